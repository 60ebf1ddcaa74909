"""Lowering types, expressions and statements by the kind of their node: Go, Java and Rust."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from plugins.codegraph.facts import Attr, Bind, Expr, Item, Literal, Name, OneOf
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

    def type(self, node: Node | None) -> Expr | None:
        """A type, or None where it has no name or is left open."""
        node = self.inner_type(node)
        if node is None or self.deeper(node):
            return None
        self.depth += 1
        found = self._type(node, node.type)
        self.depth -= 1
        return found

    def inner_type(self, node: Node | None) -> Node | None:
        """A type without what means nothing around it, such as a reference."""
        return node

    def _type(self, node: Node, kind: str) -> Expr | None:
        raise NotImplementedError

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

    def held(self, value: Expr | None) -> Expr | None:
        """A value that can be mentioned often without its calls being counted again."""
        if value is None or isinstance(value, Name):
            return value
        name = Name(self.locals.fresh("held"))
        self.scope.binds.append(Bind(name, value))
        return name

    def give(self, value: Expr | None) -> None:
        """A value that the function around gives back."""
        if value is not None:
            self.scope.results.append(value)

    def between(self, node: Node, first: str, last: str) -> str:
        """The source from one part of a node to another; of the first where the other is absent."""
        start = node.child_by_field_name(first)
        end = node.child_by_field_name(last) or start
        if start is None or end is None:
            return ""
        return self.source[start.start_byte : end.end_byte].decode("utf-8", "replace")

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


class StatementBuilder(ExpressionBuilder):
    """A draft that also has statements, which are run with the method for the kind of theirs."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._run: dict[str, Callable[[Node], None]] = {}

    def run(self, node: Node) -> None:
        """A statement, or a part of one."""
        run = self._run.get(node.type)
        if run is None:
            if node.type in self._lower or node.type in self.wrappers:
                run = self.evaluate
            elif node.child_count:
                run = self.each
            else:
                return
        if self.deeper(node):
            return
        self.depth += 1
        run(node)
        self.depth -= 1

    def each(self, node: Node) -> None:
        """The statements in a node."""
        for child in node.children:
            if child.is_named:
                self.run(child)

    def block(self, node: Node) -> None:
        """Statements with locals of their own."""
        with self.locals:
            self.each(node)


def last_name(of: Expr | None) -> str:
    """The last name of a path or type: ``Entry`` of ``Map.Entry<K, V>``."""
    while isinstance(of, Item):
        of = of.of
    if isinstance(of, Attr):
        return of.name
    return of.id if isinstance(of, Name) else ""


def one_of(choices: list[Expr | None]) -> Expr | None:
    """Any of several, or None where nothing is known of any."""
    known = [choice for choice in choices if choice is not None]
    if len(known) < 2:
        return known[0] if known else None
    return OneOf(tuple(known))
