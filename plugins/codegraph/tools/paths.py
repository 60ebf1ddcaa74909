"""Paths as agents write them, made paths from the repository's root."""

from __future__ import annotations

import re

_DRIVE = re.compile(r"^(?:[A-Za-z]:)?/+")


def plain(path: str) -> str:
    """A path with ``/``, without ``./`` and without ``..``; an absolute one stays absolute.

    Args:
        path: as it was given: ``src\\mail.py``, ``./src/mail.py``, ``C:\\work\\src\\mail.py``.
    """
    slashed = path.strip().replace("\\", "/")
    rooted = _DRIVE.match(slashed) is not None
    parts: list[str] = []
    for part in _DRIVE.sub("", slashed).split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return ("/" if rooted else "") + "/".join(parts)


def ends(path: str) -> list[str]:
    """What a plain path may be called in the repository, the longest first.

    An absolute path begins on the caller's machine, and only its end is the repository's.
    """
    if not path.startswith("/"):
        return [path]
    parts = path[1:].split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def is_test_file(path: str) -> bool:
    """Whether a file is one of tests, by the names that test runners look for."""
    *folders, name = path.lower().split("/")
    stem = name.split(".")[0]
    if stem.startswith("test_") or stem.endswith(("_test", "_tests")) or stem == "conftest":
        return True
    if ".test." in name or ".spec." in name or name.endswith(("test.java", "tests.java")):
        return True
    return any(folder in ("test", "tests", "__tests__", "spec") for folder in folders)
