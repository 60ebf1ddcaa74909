"""What is wrong with a file, and its nodes in the words of an error."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.toolkit.yaml_lines import Listing, Mapping, Node


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


def describe(node: Node) -> str:
    """What a node is, in the words of an error."""
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node, Mapping):
        return "`key: value` lines"
    shown = node.text if len(node.text) <= 40 else node.text[:37] + "..."
    return f"{shown!r}" if shown else "nothing"
