"""Code between fences, as CommonMark has it: which lines are code, and which begin and end it.

What stands in a list or a quotation ends with it, and so does the code in it. A fence may stand
deeper than CommonMark allows, as generators of sites have it below tabs and admonitions. No pattern
looks far ahead, so that a hostile line costs time by its length alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_PREFIX = r"(?P<prefix>(?:[ \t]*+(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*+[ \t]*+)"
_OPENS = re.compile(rf"{_PREFIX}(?P<mark>`{{3,}}+(?![^\n]*`)|~{{3,}}+)[^\n]*+")
_QUOTED = re.compile(r"[ \t]*+>[ \t]?+")
_CLOSES = re.compile(r"(?P<indent>[ \t]*+)(?P<mark>`{3,}+|~{3,}+)\s*+")
_TAB = 4
_MAX_INDENT = 3
"""Spaces by which the end of code may stand deeper than its beginning."""


class Line(Enum):
    """What a line is: text, code, or a fence around it."""

    TEXT = auto()
    OPENS = auto()
    CODE = auto()
    CLOSES = auto()


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fence that has begun.

    Attributes:
        mark: its signs.
        quoted: how many quotations it stands in.
        indent: the column of its signs, within the quotations.
        item: the column at which the item of a list begins that it begins with, or 0.
    """

    mark: str
    quoted: int
    indent: int
    item: int


class Fences:
    """Tells lines of code from others; given all lines of a text, one after the other."""

    def __init__(self) -> None:
        self._open: _Fence | None = None

    def read(self, line: str) -> Line:
        """What the next line is.

        Args:
            line: without its line's end.
        """
        if self._open is not None and self._goes_on(line, self._open):
            if not self._closes(line, self._open):
                return Line.CODE
            self._open = None
            return Line.CLOSES
        match = _OPENS.fullmatch(line)
        self._open = None if match is None else _begun(match["prefix"], match["mark"])
        return Line.TEXT if match is None else Line.OPENS

    def code(self, line: str) -> str:
        """A line of the code that is open, without the signs of the quotations around it."""
        return line if self._open is None else _unquoted(line, self._open.quoted)[0]

    @staticmethod
    def _goes_on(line: str, fence: _Fence) -> bool:
        rest, quoted = _unquoted(line, fence.quoted)
        return quoted == fence.quoted and (not rest.strip() or _indent(rest) >= fence.item)

    @staticmethod
    def _closes(line: str, fence: _Fence) -> bool:
        match = _CLOSES.fullmatch(_unquoted(line, fence.quoted)[0])
        return (
            match is not None
            and match["mark"].startswith(fence.mark)
            and len(match["indent"].expandtabs(_TAB)) <= fence.indent + _MAX_INDENT
        )


def _begun(prefix: str, mark: str) -> _Fence:
    rest = prefix.rpartition(">")[2].expandtabs(_TAB)
    rest = rest[1:] if ">" in prefix and rest.startswith(" ") else rest
    return _Fence(mark, prefix.count(">"), len(rest), len(rest) if rest.strip() else 0)


def _unquoted(line: str, depth: int) -> tuple[str, int]:
    """A line without the signs of so many quotations, and how many it has of them."""
    at = found = 0
    while found < depth and (match := _QUOTED.match(line, at)):
        at, found = match.end(), found + 1
    return line[at:], found


def _indent(line: str) -> int:
    spaced = line.expandtabs(_TAB)
    return len(spaced) - len(spaced.lstrip())
