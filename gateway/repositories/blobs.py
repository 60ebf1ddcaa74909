"""Identities of a file's bytes: the id of its Git blob, and the SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from gateway.repositories.protocol import Entry

_CHUNK_BYTES = 64 * 1024


def blob_sha(content: bytes) -> str:
    """The id that Git gives to a file with this content."""
    return _git_hash(len(content), content).hexdigest()


def streamed(
    path: str,
    size: int,
    read: Callable[[int], bytes],
    largest: int,
    *,
    executable: bool = False,
) -> Entry:
    """The entry of a file that is read now, piece by piece.

    Args:
        path: from the repository's root.
        size: in bytes.
        read: gives at most so many of the next bytes.
        largest: bytes up to which the content is kept.
        executable: whether its owner may run it.

    Raises:
        EOFError: there are fewer bytes than ``size``.
    """
    git, digest = _git_hash(size), hashlib.sha256()
    kept: list[bytes] = []
    left = size
    while left:
        chunk = read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise EOFError(f"{path} ends early")
        left -= len(chunk)
        git.update(chunk)
        digest.update(chunk)
        if size <= largest:
            kept.append(chunk)
    content = b"".join(kept) if size <= largest else None
    return Entry(path, size, git.hexdigest(), digest.hexdigest(), content, executable)


def _git_hash(size: int, content: bytes = b"") -> hashlib._Hash:
    return hashlib.sha1(b"blob %d\0" % size + content, usedforsecurity=False)
