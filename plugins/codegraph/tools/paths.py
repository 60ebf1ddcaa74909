"""Converts paths as agents write them to paths relative to the repository's root."""

from __future__ import annotations

import re

_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "e2e", "cypress"})
"""The folders in which test runners look."""
_PARTS = frozenset({"test", "spec", "cy"})
"""What stands between the name of a file of tests and its ending."""
_DRIVE = re.compile(r"^(?:[A-Za-z]:)?/+")


def plain(path: str) -> str:
    """A path with ``/``, without ``./`` and ``..``; an absolute one stays absolute.

    Args:
        path: as given: ``src\\mail.py``, ``./src/mail.py``, ``C:\\work\\src\\mail.py``.
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
    """The possible paths in the repository for a plain path, longest first.

    An absolute path starts on the caller's machine; only some end of it is in the repository.
    """
    if not path.startswith("/"):
        return [path]
    parts = path[1:].split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def is_test_file(path: str) -> bool:
    """Whether a file contains tests, by the naming conventions of test runners."""
    *folders, name = path.lower().split("/")
    stem = name.split(".")[0]
    if stem.startswith("test_") or stem.endswith(("_test", "_tests")) or stem == "conftest":
        return True
    if any(word in name for word in (".test.", ".spec.", ".cy.")) or name.endswith(
        ("test.java", "tests.java")
    ):
        return True
    return not _FOLDERS.isdisjoint(folders)
