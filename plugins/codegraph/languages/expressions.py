"""Lowering expressions by the kind of their node, as Go, Java and Rust do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from plugins.codegraph.facts import Expr, Literal
from plugins.codegraph.languages.builder import FactsBuilder

if TYPE_CHECKING:
    from tree_sitter import Node


class ExpressionBuilder(FactsBuilder):
    """A draft that lowers an expression with the method for the kind of its node.

    Attributes:
        literals: what the literals of the language are, by the kind of their node.
        wrappers: kinds of nodes that mean nothing but what is in them.
    """

    literals: ClassVar[Mapping[str, Expr]] = {}
    wrappers: ClassVar[frozenset[str]] = frozenset({"parenthesized_expression"})

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower: dict[str, Callable[[Node], Expr | None]] = {}

    def expr(self, node: Node | None) -> Expr | None:
        """An expression."""
        while node is not None and node.type in self.wrappers:
            node = node.named_children[0] if node.named_child_count else None
        if node is None:
            return None
        lower = self._lower.get(node.type)
        if lower is None:
            return self.leaf(node)
        if self.deeper(node):
            return None
        self.depth += 1
        found = lower(node)
        self.depth -= 1
        return found

    def leaf(self, node: Node) -> Expr | None:
        """An expression that no method lowers: a literal, or unknown."""
        return self.literals.get(node.type)

    def evaluate(self, node: Node | None) -> None:
        """An expression whose value nobody takes."""
        before = self.counted
        value = self.expr(node)
        if self.counted > before and value is not None:
            self.scope.calls.append(value)

    def calls_of(self, nodes: list[Node], kind: str = "") -> Expr | None:
        """Of several expressions, those that have calls in them."""
        items: list[Expr | None] = []
        for node in nodes:
            before = self.counted
            item = self.expr(node)
            if self.counted > before:
                items.append(item)
        if items:
            return self.many(items, kind)
        return Literal(kind) if kind else None

    def operands(self, node: Node) -> tuple[str, list[Expr | None]]:
        """The outermost operator of a binary expression, and all operands in their order.

        A sum of thousands of strings is nested to the left: it is walked, not recursed into.
        """
        operator = node.children[1].type
        spine: list[Node] = []
        at: Node | None = node
        while at is not None and at.type == "binary_expression":
            spine.append(at)
            at = at.children[0]
        operands = [self.expr(at)]
        operands += [self.expr(each.children[-1]) for each in reversed(spine)]
        return operator, operands
