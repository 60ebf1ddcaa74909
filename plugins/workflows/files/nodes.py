"""What a file says, as a tree that knows its lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

MAX_DEPTH = 20
"""How deep a file may nest."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something that the author of a file should mend.

    Attributes:
        path: the file, as it was named.
        line: where, from 1.
        reason: what is wrong and what to do.
    """

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}"


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
        text: as it was written; ``1.10`` stays ``1.10``.
        value: the JSON value that it stands for, where text is not what is meant.
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


Node: TypeAlias = Scalar | Listing | Mapping


def plain(node: Node) -> Any:
    """The JSON values of a tree."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Listing):
        return [plain(each) for each in node.items]
    return {key: plain(each) for key, each in node.items.items()}


def said(node: Node) -> str:
    """What a node is, in the words of an error."""
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node, Mapping):
        return "`key: value` lines"
    shown = node.text if len(node.text) <= 40 else node.text[:37] + "..."
    return f"{shown!r}" if shown else "nothing"


def add(mapping: Mapping, key: str, node: Node, line: int) -> None:
    """Put a value under its key.

    Raises:
        Broken: the key is there already.
    """
    if key in mapping.items:
        first = mapping.lines[key]
        raise Broken(line, f"the key {key!r} is here twice (first on line {first})")
    mapping.items[key] = node
    mapping.lines[key] = line
