"""A fingerprint of a directory that changes with any file in it, without reading any. It blocks."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Generator
from pathlib import Path

SETTLED_SECONDS = 2.0
"""Age in seconds from which a file's time reveals any later write: file times are coarse."""


def stamp(directory: Path) -> str | None:
    """A stamp of all files below a directory: their paths, sizes and times.

    Args:
        directory: where to begin; ``.git`` is passed over.

    Returns:
        The stamp; None where it could not be relied upon: a file was written a moment ago, a
        link leads to a directory, or something cannot be looked at.
    """
    settled = time.time_ns() - int(SETTLED_SECONDS * 1e9)
    seen = hashlib.blake2b(digest_size=16)
    try:
        for entry in _walk(directory):
            state = entry.stat()
            if state.st_mtime_ns > settled or state.st_ctime_ns > settled:
                return None
            seen.update(os.fsencode(entry.path))
            seen.update(f"\0{state.st_size}:{state.st_mtime_ns}:{state.st_ino}\0".encode())
    except OSError:
        return None
    return seen.hexdigest()


def _walk(directory: Path | str) -> Generator[os.DirEntry[str]]:
    """Every entry below a directory, in an order of its own.

    Raises:
        OSError: one cannot be looked at, or is a link to a directory.
    """
    with os.scandir(directory) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name == ".git":
            continue
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)
        elif entry.is_dir():
            raise OSError(f"{entry.path} is a link to a directory")
