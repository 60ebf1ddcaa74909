"""Inserts a member into a JSON object and leaves the rest of the file unchanged.

Clients accept comments and trailing commas, so these are accepted here too. They are replaced by
spaces for Python's parser, character by character, so that positions stay the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|\s+|.', re.DOTALL)
_BLANK = re.compile(r"[^\r\n]")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def blanked(text: str) -> str:
    """The text with byte order mark, comments and trailing commas replaced by spaces."""
    parts: list[str] = []
    comma: int | None = None
    if text.startswith("\ufeff"):
        text = " " + text[1:]
    for each in _TOKEN.findall(text):
        if each.startswith(("//", "/*")):
            each = _BLANK.sub(" ", each)
        elif each in "}]" and comma is not None:
            parts[comma] = " "
        if each == ",":
            comma = len(parts)
        elif not each.isspace():
            comma = None
        parts.append(each)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object in a text.

    Attributes:
        text: the text of the file.
        clean: the same text, blanked.
        start: the position of its opening brace.
        end: the position of its closing brace.
        members: the names of its members, with start and end of each value.
    """

    text: str
    clean: str
    start: int
    end: int
    members: tuple[tuple[str, int, int], ...]

    @classmethod
    def at(cls, text: str, clean: str, start: int) -> Object:
        """The object whose brace is at ``start``, in a text that is valid JSON."""
        members: list[tuple[str, int, int]] = []
        place = _next(clean, start + 1)
        while clean[place] != "}":
            name, place = _DECODER.raw_decode(clean, place)
            value = _next(clean, _next(clean, place) + 1)
            _, place = _DECODER.raw_decode(clean, value)
            members.append((name, value, place))
            place = _next(clean, place)
            if clean[place] == ",":
                place = _next(clean, place + 1)
        return cls(text, clean, start, place, tuple(members))

    def inner(self, name: str) -> Object | None:
        """The object that is a member's value; None for another value, or duplicate members."""
        places = [value for key, value, _ in self.members if key == name]
        if len(places) != 1 or self.clean[places[0]] != "{":
            return None
        return Object.at(self.text, self.clean, places[0])

    def with_member(self, name: str, value: Any, depth: int) -> str:
        """The file's text with one more member at the end of this object.

        Args:
            name: its name, which must be new.
            value: JSON values.
            depth: how many objects enclose this one.
        """
        newline = "\r\n" if "\r\n" in self.text else "\n"
        unit = indent_of(self.text)
        own = self._margin() or unit * (depth + 1)
        written = json.dumps({name: value}, indent=unit, ensure_ascii=False)
        lines = [line.removeprefix(unit) for line in written.splitlines()[1:-1]]
        entry = "".join(f"{newline}{own}{line}" for line in lines)
        last = self.start + 1 + len(self.text[self.start + 1 : self.end].rstrip())
        after = "" if newline in self.text[last : self.end] else newline + unit * depth
        if not self.members:
            return f"{self.text[:last]}{entry}{after}{self.text[last:]}"
        done = self.members[-1][2]
        comma = "" if self._trailing_comma(done) else ","
        return f"{self.text[:done]}{comma}{self.text[done:last]}{entry}{after}{self.text[last:]}"

    def _margin(self) -> str:
        """The indentation of the first member, if it begins a line."""
        if not self.members:
            return ""
        first = _next(self.clean, self.start + 1)
        line = self.text[self.text.rfind("\n", 0, first) + 1 : first]
        return line if not line.strip() and self.start < first - len(line) else ""

    def _trailing_comma(self, done: int) -> bool:
        tokens = _TOKEN.findall(self.text[done : self.end])
        return "," in tokens


def indent_of(text: str) -> str:
    """The indentation used in a file; two spaces if it has none."""
    for line in text.splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip(" \t"))]
        if blank and blank != line:
            return "\t" if blank[0] == "\t" else blank
    return "  "


def parsed(text: str) -> tuple[Any, str]:
    """The JSON value of a text, and the text blanked.

    Raises:
        ValueError: it is not JSON.
    """
    clean = blanked(text)
    return json.loads(clean), clean


def root(text: str, clean: str) -> Object:
    """The top-level object of a text."""
    return Object.at(text, clean, _next(clean, 0))


def _next(clean: str, place: int) -> int:
    found = _SPACE.match(clean, place)
    return found.end() if found else place
