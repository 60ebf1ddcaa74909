"""JSON, read into a tree that knows its lines."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from gateway.toolkit.yaml_lines import MAX_DEPTH, Broken, Listing, Mapping, Node, Scalar

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,3})?")
_DECODER = json.JSONDecoder()
_WORDS = {"null": None, "true": True, "false": False}


def read(text: str) -> Node:
    """Read one JSON value.

    Raises:
        Broken: it is not JSON, has a key twice, or nests too deep.
    """
    reader = _Reader(text)
    node = reader.value(0)
    if reader.peek():
        reader.fail("there is more text after the end")
    return node


class _Reader:
    """A place in a text, moved on by what is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0

    @property
    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def fail(self, reason: str) -> NoReturn:
        raise Broken(self.line, f"broken JSON: {reason}")

    def peek(self) -> str:
        """The next character that is no space, or an empty text at the end."""
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        return self._text[self._at : self._at + 1]

    def value(self, depth: int) -> Node:
        first = self.peek()
        if first in ("{", "["):
            if depth >= MAX_DEPTH:
                raise Broken(self.line, f"nested more than {MAX_DEPTH} levels deep")
            return self._mapping(depth) if first == "{" else self._listing(depth)
        line = self.line
        if first == '"':
            text = self._string()
            return Scalar(line, text, text)
        for word, meaning in _WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return Scalar(line, word, meaning)
        number = _NUMBER.match(self._text, self._at)
        if number is None:
            self.fail("a value is missing here")
        self._at = number.end()
        value = json.loads(number[0])
        if value in (float("inf"), float("-inf")):
            self.fail(f"{number[0]} is larger than any number that can be kept")
        return Scalar(line, number[0], value)

    def _string(self) -> str:
        try:
            text, self._at = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise Broken(error.lineno, f"broken JSON: {error.msg}") from error
        return str(text)

    def _mapping(self, depth: int) -> Mapping:
        mapping = Mapping(self.line)
        while self._goes_on("}", first=not mapping.items):
            if self.peek() != '"':
                self.fail("a key in quotes is missing here")
            line, key = self.line, self._string()
            if self.peek() != ":":
                self.fail("a colon is missing here")
            self._at += 1
            mapping.add(key, self.value(depth + 1), line)
        return mapping

    def _listing(self, depth: int) -> Listing:
        listing = Listing(self.line)
        while self._goes_on("]", first=not listing.items):
            listing.items.append(self.value(depth + 1))
        return listing

    def _goes_on(self, end: str, first: bool) -> bool:
        """Pass the bracket or comma before the next item, or the end."""
        if first:
            self._at += 1
            if self.peek() != end:
                return True
        elif self.peek() == ",":
            self._at += 1
            return True
        if self.peek() != end:
            self.fail(f"a comma or {end} is missing here")
        self._at += 1
        return False
