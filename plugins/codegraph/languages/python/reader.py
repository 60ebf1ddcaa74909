"""What reading Python's syntax needs everywhere: nested expressions, literals, conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from plugins.codegraph.facts import (
    Expr,
)
from plugins.codegraph.languages.builder import FactsBuilder
from plugins.codegraph.languages.python.annotations import annotation
from plugins.codegraph.languages.python.flow import Flow

if TYPE_CHECKING:
    from tree_sitter import Node


MAX_DEPTH = 160
"""How deep syntax is followed."""


class Reader(FactsBuilder):
    """Reads nodes into the current scope."""

    language = "python"
    kinds: ClassVar[dict[str, Callable[[Any, Node], Expr | None]]]
    """What reads an expression, by the kind of its node."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._numbers = 0
        self.flow = Flow(True, {}, self.number)

    def number(self) -> int:
        """A number that was not used before."""
        self._numbers += 1
        return self._numbers

    def expr(self, node: Node | None) -> Expr | None:
        """What an expression is."""
        if node is None:
            return None
        work = self.kinds.get(node.type)
        if work is None:
            return None
        if self.depth >= MAX_DEPTH:
            self.deeper_than(node)
            return None
        self.depth += 1
        found = work(self, node)
        self.depth -= 1
        return found

    def deeper_than(self, node: Node) -> None:
        """The syntax is nested too deep to be followed from here."""
        self.too_deep = self.too_deep or node.start_point[0] + 1

    def exprs(self, nodes: list[Node]) -> tuple[Expr | None, ...]:
        """What several expressions are."""
        return tuple([self.expr(each) for each in nodes])

    def run(self, node: Node | None) -> None:
        """An expression of which only its calls matter."""
        before = self.counted
        found = self.expr(node)
        if self.counted != before:
            self.scope.calls.append(found)

    def annotation(self, node: Node | None) -> Expr | None:
        """What a type annotation says."""
        return annotation(self.source, node)

    def literal_text(self, node: Node) -> str | None:
        """The text of a plain string or number, or None."""
        if node.type == "integer":
            return self.text(node)
        if node.type == "unary_operator":
            text = self.text(node)
            return text if text[1:].isdigit() and text[0] == "-" else None
        if node.type != "string":
            return None
        parts = node.named_children
        if any(each.type == "interpolation" for each in parts):
            return None
        return "".join(self.text(each) for each in parts if each.type == "string_content")


def real(node: Node) -> list[Node]:
    """The parts of a node that are no comments."""
    return [each for each in node.named_children if each.type != "comment"]
