"""The stored (deflated) form of file texts. Separate, so that workers need no database code."""

from __future__ import annotations

import zlib

import msgspec

COMPRESSION_LEVEL = 1
"""The zlib level: the fastest, which compresses to about a third."""


class Content(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file's text, deflated, with the digest of its bytes."""

    digest: str
    text: bytes


def deflated(data: bytes) -> bytes:
    """Compress bytes for storage."""
    return zlib.compress(data, COMPRESSION_LEVEL)


def inflated(data: bytes) -> bytes:
    """The bytes from their stored form."""
    return zlib.decompress(data)
