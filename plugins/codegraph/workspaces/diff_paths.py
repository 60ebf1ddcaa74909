"""File names in the headers of Git diffs: quoted like C strings, with prefixes or without.

See git-diff(1), "Generating patch text with -p": names with special characters are quoted with
``"`` and escaped; ``core.quotePath``, ``diff.noprefix`` and ``diff.mnemonicPrefix`` change it.
"""

from __future__ import annotations

import re

NULL = "/dev/null"
"""The name in place of a file that does not exist."""

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(_QUOTED)
_TWO = re.compile(rf"({_QUOTED}|.+?) ({_QUOTED})|({_QUOTED}) (.+)")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}


def unquoted(name: str) -> str:
    """A name with Git's quoting removed.

    Invalid UTF-8 becomes surrogates, as in :func:`os.fsdecode`.
    """
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescaped, raw).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if escape[:1].isdigit():
        return bytes([int(escape, 8) & 0xFF])
    return _LETTERS.get(escape, escape)


def marked(line: str) -> str:
    """The name of a ``---`` or ``+++`` line, including its prefix.

    Args:
        line: what follows the marker and its space. Git ends a name that has spaces with a tab.
    """
    if found := _TOKEN.match(line):
        return unquoted(found[0])
    return line.split("\t", 1)[0]


def of_header(rest: str) -> tuple[str, str] | None:
    """The two names after ``diff --git``, without prefixes; None if they cannot be separated.

    Args:
        rest: the line, without ``diff --git`` and its space.
    """
    if found := _TWO.fullmatch(rest):
        old, new = (found[1], found[2]) if found[2] else (found[3], found[4])
        return without_prefixes(unquoted(old), unquoted(new))
    # Equal names, or prefixes of the same length: split in the middle.
    middle = len(rest) // 2
    if len(rest) % 2 and rest[middle] == " ":
        return without_prefixes(rest[:middle], rest[middle + 1 :])
    return None


def without_prefixes(old: str, new: str) -> tuple[str, str] | None:
    """Two forms of one name, without their prefixes (``a/`` and ``b/``).

    Returns:
        The name, twice; or None if the names differ.
    """
    if old == new:
        return old, new
    old_parts, new_parts = old.split("/"), new.split("/")
    same = 0
    while same < min(len(old_parts), len(new_parts)) - 1 and (
        old_parts[-1 - same] == new_parts[-1 - same]
    ):
        same += 1
    if not same:
        return None
    name = "/".join(new_parts[-same:])
    return name, name


def plain(name: str, prefixed: bool) -> str:
    """The name of a ``---`` or ``+++`` line whose other side is no file, without its prefix."""
    return name.split("/", 1)[-1] if prefixed else name
