"""YAML that came from many hands, as a tree that knows its lines.

It is read event by event, without trust: no tags, no aliases (which can blow up without bound), no
deep nesting (which crashes recursive readers), no key twice. What is plain reads as null, a truth
or a number, and as nothing else: a date stays the text that its author wrote.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

MAX_DEPTH = 20
"""How deep a text may nest."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

Numbers: TypeAlias = Callable[[str], int | float | None]
"""``numbers(written)``: the number that a plain word stands for, or None where it is a text."""


class Broken(ValueError):
    """A text that cannot be read.

    Args:
        line: where, from 1.
        reason: what is wrong and what to do.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value.

    Attributes:
        line: where it stands, from 1.
        text: as it was written; ``1.10`` stays ``1.10``.
        value: the JSON value that it stands for.
    """

    line: int
    text: str
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of values."""

    line: int
    items: list[Node] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Values by their keys; ``lines`` has the line of each key."""

    line: int
    items: dict[str, Node] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, node: Node, line: int) -> None:
        """Put a value under its key.

        Raises:
            Broken: the key is there already.
        """
        if key in self.items:
            reason = f"the key {key!r} is here twice (first on line {self.lines[key]})"
            raise Broken(line, reason)
        self.items[key] = node
        self.lines[key] = line


Node: TypeAlias = Scalar | Listing | Mapping


def plain(node: Node) -> Any:
    """The JSON values of a tree."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Listing):
        return [plain(each) for each in node.items]
    return {key: plain(each) for key, each in node.items.items()}


_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def core_number(written: str) -> int | float | None:
    """A number as YAML's core schema has it: ``1.10`` is 1.1, and ``007`` is 7."""
    if _INTEGER.fullmatch(written):
        return int(written)
    if _DECIMAL.fullmatch(written) and math.isfinite(number := float(written)):
        return number
    return None


def read(text: str, first_line: int = 1, *, numbers: Numbers = core_number) -> Node | None:
    """Read one YAML document; None where there is nothing in it.

    Args:
        text: with line feeds as its line ends.
        first_line: the line of the file on which the text begins.
        numbers: which plain words are numbers.

    Raises:
        Broken: it is not YAML of the kind that is read here.
    """
    root: Node | None = None
    nested: list[_Open] = []
    for event, line in _events(text, first_line):
        if isinstance(event, yaml.CollectionStartEvent):
            if len(nested) >= MAX_DEPTH:
                raise Broken(line, f"nested more than {MAX_DEPTH} levels deep")
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            nested.append(_Open(Mapping(line) if is_mapping else Listing(line)))
            continue
        ended = isinstance(event, yaml.CollectionEndEvent)
        node = nested.pop().node if ended else _scalar(event, line, numbers)
        if nested:
            nested[-1].take(node)
        else:
            root = node
    return None if isinstance(root, Scalar) and root.value is None else root


class _Open:
    """A mapping or list whose end has not been read; ``key`` waits for its value."""

    def __init__(self, node: Mapping | Listing) -> None:
        self.node = node
        self.key: Scalar | None = None

    def take(self, node: Node) -> None:
        if isinstance(self.node, Listing):
            self.node.items.append(node)
        elif self.key is not None:
            self.node.add(self.key.text, node, self.key.line)
            self.key = None
        elif isinstance(node, Scalar):
            self.key = node
        else:
            raise Broken(node.line, "a key must be plain text; put quotes around {...} and [...]")


def _scalar(event: yaml.ScalarEvent, line: int, numbers: Numbers) -> Scalar:
    written: str = event.value
    if event.style:
        return Scalar(line, written, written)
    if written in _WORDS:
        return Scalar(line, written, _WORDS[written])
    number = numbers(written)
    return Scalar(line, written, written if number is None else number)


def _events(text: str, first_line: int) -> Iterator[tuple[Any, int]]:
    """The events that carry values, each with its line."""
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            line = first_line + (event.start_mark.line if event.start_mark else 0)
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise Broken(line, "a second YAML document begins here")
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                _refuse_marks(event, line)
                yield event, line
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.line if mark else 0
        written = "".join(text.split("\n")[at : at + 1])
        raise Broken(first_line + at, f"broken YAML: {_reason(error, written)}") from error
    except yaml.reader.ReaderError as error:
        at = first_line + text.count("\n", 0, error.position)
        raise Broken(at, f"broken YAML: {error.reason}") from error


def _refuse_marks(event: yaml.Event, line: int) -> None:
    if getattr(event, "anchor", None):
        raise Broken(line, "anchors (&) and aliases (*) are not read; use quotes")
    if tag := getattr(event, "tag", None):
        raise Broken(line, f"the tag {tag} is not read; use quotes")


def _reason(error: yaml.MarkedYAMLError, line: str) -> str:
    """What the parser says of a line, with a hint for the slips behind most of its complaints."""
    message = ", ".join(part for part in (error.context, error.problem) if part)
    if "mapping values are not allowed" in message:
        return f"{message}; put quotes around a text that holds a colon"
    if "cannot start any token" in message and line.lstrip(" ").startswith("\t"):
        return f"{message}; indent with spaces, and not with a tab"
    return message
