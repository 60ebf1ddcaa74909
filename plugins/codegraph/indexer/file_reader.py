"""Reads a file's bytes in a worker: complete, unchanged during the read, and text."""

from __future__ import annotations

import os
import re
from pathlib import Path

from plugins.codegraph.indexer.scan import Found, Limits, changed, signed

_MAX_LINE_LENGTH = 2_000
"""Average bytes per line above which a file counts as minified."""
_MIN_MINIFIED_BYTES = 20_000
"""Files smaller than this (in bytes) never count as minified."""


_PYTHON = (".py", ".pyi")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)


class Unreadable(Exception):
    """The file is not read; the message says why.

    Args:
        reason: the message.
        lasting: whether that holds for as long as the file does not change.
    """

    def __init__(self, reason: str, *, lasting: bool = True) -> None:
        super().__init__(reason)
        self.lasting = lasting


def read(root: Path, found: Found, limits: Limits) -> tuple[bytes, Found]:
    """Read a file.

    Args:
        root: the repository's directory.
        found: the file as it was listed.
        limits: the limits of what is indexed.

    Returns:
        Its bytes, and the file as it was when they were read.

    Raises:
        Unreadable: it cannot be read, is too large, or keeps changing.
    """
    for _ in range(2):
        data, before, after = _once(root, found.path, limits)
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            same = (found.size, found.inode) == (after.st_size, signed(after.st_ino))
            if same and found.mtime in (0, changed(after)):
                return data, found
            # Changed since it was listed, and may change again: with time 0 it is reread next time.
            return data, Found(found.path, after.st_size, 0, found.inode)
    raise Unreadable("it changed while it was read; the next index reads it again", lasting=False)


def _once(root: Path, path: str, limits: Limits) -> tuple[bytes, os.stat_result, os.stat_result]:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(root / path, flags)
        with os.fdopen(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            data = file.read(limits.file + 1)
            after = os.fstat(descriptor)
    except (OSError, ValueError) as error:
        reason = f"it cannot be read: {getattr(error, 'strerror', error)}"
        raise Unreadable(reason, lasting=False) from None
    if len(data) > limits.file:
        raise Unreadable(f"larger than {limits.file:,} bytes")
    return data, before, after


def as_utf8(path: str, data: bytes) -> bytes:
    """A Python file converted to UTF-8 from the encoding that its first lines declare (PEP 263)."""
    found = _COOKIE.search(b"\n".join(data.split(b"\n", 2)[:2])) if path.endswith(_PYTHON) else None
    if found is None:
        return data
    try:
        return data.decode(found[1].decode()).encode()
    except (LookupError, ValueError):  # unknown encoding, or the bytes are not in it
        return data


def check_text(data: bytes) -> None:
    """Check that these bytes are text, and not generated.

    Raises:
        Unreadable: they are binary or minified.
    """
    if b"\0" in data:
        raise Unreadable("binary")
    lines = data.count(b"\n") + 1
    if len(data) > _MIN_MINIFIED_BYTES and len(data) / lines > _MAX_LINE_LENGTH:
        average = len(data) // lines
        raise Unreadable(f"minified, or data: {lines:,} lines of {average:,} bytes on average")
