"""The text of a file as it is kept. Workers make it, which know of no database."""

from __future__ import annotations

import zlib

import msgspec

COMPRESSION_LEVEL = 1
"""Of deflating: the fastest, which leaves a third."""


class Content(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file's text, deflated, by the digest of its bytes."""

    digest: str
    text: bytes


def deflated(data: bytes) -> bytes:
    """Bytes as they are kept."""
    return zlib.compress(data, COMPRESSION_LEVEL)


def inflated(data: bytes) -> bytes:
    """Bytes as they were."""
    return zlib.decompress(data)
