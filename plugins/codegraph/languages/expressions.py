"""Lowers types, expressions and statements, one method per kind of node: Go, Java and Rust."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from plugins.codegraph.facts import (
    AS_TYPE,
    BASE,
    DECORATOR,
    IN_MACRO,
    MADE,
    PLAIN,
    RAISED,
    Attr,
    Bind,
    Expr,
    Item,
    Literal,
    Name,
    OneOf,
)
from plugins.codegraph.languages.builder import FactsBuilder

if TYPE_CHECKING:
    from tree_sitter import Node


_OF_TYPES = frozenset({MADE, RAISED, BASE, DECORATOR, IN_MACRO})
"""The ways to use a type other than to declare something with it."""


class ExpressionBuilder(FactsBuilder):
    """A builder that lowers each expression with the method named after its node kind.

    Attributes:
        literals: the built-in types of literals, by node kind.
        wrappers: node kinds without a meaning of their own, such as parentheses.
        passing: node kinds whose last name is used as they are themselves.
    """

    literals: ClassVar[Mapping[str, Expr]] = {}
    wrappers: ClassVar[frozenset[str]] = frozenset({"parenthesized_expression"})
    passing: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower: dict[str, Callable[[Node], Expr | None]] = {}

    def type(self, node: Node | None) -> Expr | None:
        """Lower a type; None where it has no name or is left to inference."""
        node = self.inner_type(node)
        if node is None or self.deeper(node):
            return None
        self.depth += 1
        using = self.using
        self.using = using if using in _OF_TYPES else AS_TYPE
        found = self._type(node, node.type)
        self.using = using
        self.depth -= 1
        return found

    def type_argument(self, node: Node | None) -> Expr | None:
        """Lower a type that another one is made of."""
        using, self.using = self.using, PLAIN
        found = self.type(node)
        self.using = using
        return found

    def types_in(self, node: Node) -> None:
        """Note the types that one without a name of its own is made of."""
        for child in node.named_children:
            self.type_argument(child)

    def typed(self, node: Node | None, how: str) -> Expr | None:
        """Lower a type that is used in this way (``facts.Use.how``)."""
        using, self.using = self.using, how
        found = self.type(node)
        self.using = using
        return found

    def local(self, name: Node) -> str:
        """Declare a local by its name's node; returns its name in the facts."""
        return self.locals.declare(self.noted_local(name))

    def named_value(self, node: Node) -> Expr:
        """Lower a bare name that is a value."""
        name = self.text(node)
        if self.locals.is_local(name):
            self.noted_local(node)
            return Name(self.locals.look(name))
        return self.noted(Name(self.locals.look(name)), node)

    def inner_type(self, node: Node | None) -> Node | None:
        """A type without wrappers that the facts ignore, such as a reference."""
        return node

    def _type(self, node: Node, kind: str) -> Expr | None:
        raise NotImplementedError

    def expr(self, node: Node | None) -> Expr | None:
        """Lower an expression."""
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
        using = self.using
        if using is not PLAIN and node.type not in self.passing:
            self.using = PLAIN
        found = lower(node)
        self.using = using
        self.depth -= 1
        return found

    def leaf(self, node: Node) -> Expr | None:
        """Lower an expression without a method: a literal, or unknown."""
        return self.literals.get(node.type)

    def evaluate(self, node: Node | None) -> None:
        """Lower an expression whose value is unused."""
        before = self.counted
        value = self.expr(node)
        if self.counted > before and value is not None:
            self.scope.calls.append(value)

    def calls_of(self, nodes: list[Node], kind: str = "") -> Expr | None:
        """Group several expressions, without those that have no calls."""
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
        """Bind a value to a fresh name, so that referencing it repeatedly counts its calls only
        once."""
        if value is None or isinstance(value, Name):
            return value
        name = Name(self.locals.fresh("held"))
        self.scope.binds.append(Bind(name, value))
        return name

    def give(self, value: Expr | None) -> None:
        """Add a return value to the enclosing function."""
        if value is not None:
            self.scope.results.append(value)

    def between(self, node: Node, first: str, last: str) -> str:
        """The source text from one field of a node to another; of the first alone where the other
        is absent."""
        start = node.child_by_field_name(first)
        end = node.child_by_field_name(last) or start
        if start is None or end is None:
            return ""
        return self.source[start.start_byte : end.end_byte].decode("utf-8", "replace")

    def operands(self, node: Node) -> tuple[str, list[Expr | None]]:
        """The outermost operator of a binary expression, and all operands in order.

        A sum of thousands of strings nests to the left, so it is walked iteratively.
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
    """A builder that also lowers statements, each with the method named after its node kind."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._run: dict[str, Callable[[Node], None]] = {}

    def run(self, node: Node) -> None:
        """Lower a statement, or a part of one."""
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
        """Lower the statements in a node."""
        for child in node.children:
            if child.is_named:
                self.run(child)

    def block(self, node: Node) -> None:
        """Lower statements that have their own block scope."""
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
    """Any of several alternatives, or None where all are unknown."""
    known = [choice for choice in choices if choice is not None]
    if len(known) < 2:
        return known[0] if known else None
    return OneOf(tuple(known))
