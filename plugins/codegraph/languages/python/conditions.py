"""Lowers operators, and narrows variables where conditions hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    Element,
    Expr,
    Group,
    Literal,
    Many,
    OneOf,
)
from plugins.codegraph.languages.python.reader import Reader, real

if TYPE_CHECKING:
    from tree_sitter import Node


class Conditions(Reader):
    """Lowers operators."""

    def _binary(self, node: Node) -> Expr | None:
        """Lower a binary operator; long chains nest to the left, so they are walked in a loop."""
        operands: list[Node] = []
        operators = set()
        current: Node | None = node
        while current is not None and current.type == "binary_operator":
            left = current.child_by_field_name("left")
            right = current.child_by_field_name("right")
            operator = current.child_by_field_name("operator")
            operators.add(operator.type if operator is not None else "")
            if right is not None:
                operands.append(right)
            current = left
        if current is not None:
            operands.append(current)
        found = self.exprs(operands[::-1])
        if operators == {"|"}:
            return OneOf(found)
        if operators == {"+"} and any(type(each) is Group for each in found):
            return Group("l", tuple(Element(each) for each in found))
        return Many(found, "str" if any(_is_text(each) for each in found) else "")

    def _operands(self, node: Node) -> Expr | None:
        return Many(self.exprs(node.named_children), "bool")

    def _unary(self, node: Node) -> Expr | None:
        return Many(self.exprs(node.named_children[-1:]))

    def _boolean(self, node: Node) -> Expr | None:
        """Lower ``and`` or ``or``; each operand is narrowed by those before it."""
        both, operands = _chain(node)
        before = dict(self.flow.names)
        found: list[Expr | None] = []
        for each in operands:
            found.append(self.expr(each))
            self.narrow(each, both)
        self.flow.names = before
        if both:
            return OneOf((Many(tuple(found[:-1])), found[-1]))
        return OneOf(tuple(found))

    def _conditional(self, node: Node) -> Expr | None:
        parts = [each for each in node.named_children if each.type != "comment"]
        if len(parts) != 3:
            return Many(self.exprs(parts))
        self.run(parts[1])
        before = dict(self.flow.names)
        self.narrow(parts[1], True)
        then = self.expr(parts[0])
        self.flow.names = dict(before)
        self.narrow(parts[1], False)
        other = self.expr(parts[2])
        self.flow.names = before
        return OneOf((then, other))

    def narrow(self, test: Node | None, holds: bool) -> None:
        """Narrow variables to the types implied by a test that holds, or that does not."""
        while test is not None and test.type in ("parenthesized_expression", "not_operator"):
            if test.type == "not_operator":
                holds = not holds
            test = test.named_children[-1] if test.named_children else None
        if test is None:
            return
        if test.type == "boolean_operator":
            both, operands = _chain(test)
            for each in operands if both == holds and len(operands) < _MANY else ():
                self.narrow(each, holds)
        elif test.type == "call" and holds and not self.flow.plain:
            self._narrow_call(test)

    def _narrow_call(self, test: Node) -> None:
        of = test.child_by_field_name("function")
        arguments = test.child_by_field_name("arguments")
        if of is None or arguments is None or self.text(of) != "isinstance":
            return
        given = real(arguments)
        if len(given) != 2 or given[0].type != "identifier":
            return
        kind = given[1]
        types = kind.named_children if kind.type == "tuple" else [kind]
        stated = OneOf(self.exprs(types))
        self.scope.binds.append(self.flow.narrow(self.text(given[0]), stated))


_MANY = 40


def _chain(node: Node) -> tuple[bool, list[Node]]:
    """Whether a chain is one of ``and``, and its operands; it nests to the left."""
    operator = node.child_by_field_name("operator")
    kind = "" if operator is None else operator.type
    operands: list[Node] = []
    current: Node | None = node
    while current is not None and current.type == "boolean_operator":
        own = current.child_by_field_name("operator")
        right = current.child_by_field_name("right")
        if own is None or own.type != kind or right is None:
            break
        operands.append(right)
        current = current.child_by_field_name("left")
    if current is not None:
        operands.append(current)
    return kind == "and", operands[::-1]


def _is_text(expr: Expr | None) -> bool:
    return isinstance(expr, Literal | Many) and expr.kind == "str"
