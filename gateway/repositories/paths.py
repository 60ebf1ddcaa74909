"""Which paths may be asked for.

A path that passes stays below the folder it is joined to: in a file system, in a Git tree and in
a URL, however often a percent sign is decoded on the way. Everything else is refused before
anything is asked. Letters are compared as they are: both Unicode normal forms pass.
"""

from __future__ import annotations

import re

from gateway.repositories.errors import Place, SourceFailed

MAX_PATH_BYTES = 1024
"""Bytes of a path in UTF-8."""
MAX_SEGMENT_BYTES = 255
"""Bytes of one name in it, as file systems have it."""

_MAX_CHARACTERS_SHOWN = 80
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# `.`, `/`, `\`, `%` (another round of encoding), control characters, overlong UTF-8, %uXXXX.
_ENCODED = re.compile(r"%(?:2[EF5]|5C|[01][0-9A-F]|7F|C[01]|u[0-9A-F])", re.IGNORECASE)


def problem(value: str) -> str | None:
    """The problem with a path, as the end of a sentence, or None."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if not value:
        return "is empty"
    if size > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES:,} bytes"
    if _CONTROL.search(value):
        return "holds a control character"
    if "\\" in value:
        return "holds a backslash"
    if ".." in value:
        return "holds '..'"
    if _ENCODED.search(value):
        return "holds a percent-encoded '.', '/', '\\', '%' or control character"
    return _segment_problem(value)


def _segment_problem(value: str) -> str | None:
    if value.startswith("/"):
        return "begins with '/'"
    for segment in value.split("/"):
        if not segment:
            return "holds an empty part between two '/', or ends with '/'"
        if segment[-1] in ". ":
            return "has a part that is '.', or ends in a dot or a space"
        if len(segment.encode()) > MAX_SEGMENT_BYTES:
            return f"has a part longer than {MAX_SEGMENT_BYTES} bytes"
    return None


def checked(value: str, what: str) -> str:
    """The value, if it is a path that may be asked for.

    Args:
        value: what the caller gave.
        what: how the caller knows it: ``name``, ``skill``, ``file``, ``path``.

    Raises:
        SourceFailed: INVALID_PATH.
    """
    reason = problem(value)
    if reason is None:
        return value
    shown = value.encode(errors="backslashreplace").decode()
    shown = shown if len(shown) <= _MAX_CHARACTERS_SHOWN else shown[:_MAX_CHARACTERS_SHOWN] + "…"
    message = f"{what} {reason}. Give a relative path as the list tools show it."
    raise SourceFailed("INVALID_PATH", message, Place(path=shown))


def joined(*segments: str, what: str = "path") -> str:
    """The path made of all segments that are not empty, if it may be asked for.

    Args:
        segments: folders and names, each of which may hold several parts; the source's own
            ``path`` may be empty.
        what: how the caller knows the whole.

    Raises:
        SourceFailed: INVALID_PATH.
    """
    return checked("/".join(segment for segment in segments if segment), what)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is that of something in a folder; the empty folder holds everything."""
    return not folder or path.startswith(folder + "/")
