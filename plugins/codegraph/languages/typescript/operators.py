"""Lowers operators: which operands the result may be, and which only count for their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    PLAIN,
    Element,
    Expr,
    Inner,
    Literal,
    Many,
    Name,
    OneOf,
    Super,
)
from plugins.codegraph.languages.typescript.lowerer import Lowerer, child_at

if TYPE_CHECKING:
    from tree_sitter import Node


def conditional(low: Lowerer, node: Node) -> Expr | None:
    """Lower ``a ? b : c``, nested ones included."""
    before = low.calls
    low.keep(low.expr(node.child_by_field_name("condition")), before)
    choices: list[Expr | None] = []
    while True:
        choices.append(low.expr(node.child_by_field_name("consequence")))
        other = node.child_by_field_name("alternative")
        if other is None or other.type != "ternary_expression":
            choices.append(low.expr(other))
            return OneOf(tuple(choices))
        node = other
        before = low.calls
        low.keep(low.expr(node.child_by_field_name("condition")), before)


_CHOICES = frozenset({"||", "??", "&&"})


def binary(low: Lowerer, node: Node) -> Expr | None:
    """Lower a chain of binary operators, which nests to the left and may be long."""
    operands: list[Expr | None] = []
    operators: set[str] = set()
    current: Node | None = node
    while current is not None and current.type == "binary_expression":
        operator = current.child_by_field_name("operator")
        operators.add(operator.type if operator is not None else "")
        how = AS_TYPE if operator is not None and operator.type == "instanceof" else PLAIN
        operands.append(low.used(current.child_by_field_name("right"), how))
        current = current.child_by_field_name("left")
    operands.append(low.expr(current))
    operands.reverse()
    if operators == {"&&"}:
        before = operands[:-1]
        low.scope.calls.extend(each for each in before if _has_call(each))
        return operands[-1]
    if operators <= _CHOICES:
        return OneOf(tuple(operands))
    kept = tuple(each for each in operands if each is not None)
    return Many(kept) if kept else None


def _has_call(value: Expr | None) -> bool:
    return value is not None and not isinstance(value, Name | Literal | Inner | Super)


def operands(low: Lowerer, node: Node) -> Expr | None:
    """Lower a unary operator, which may be ``delete`` or ``++``: only the calls in its operand
    matter."""
    operand = Many(tuple(low.expr(child) for child in node.named_children))
    low.written.forget()
    return operand


def template(low: Lowerer, node: Node) -> Expr | None:
    """Lower a template string."""
    inside = [
        low.expr(child_at(child))
        for child in node.named_children
        if child.type == "template_substitution"
    ]
    return Many(tuple(inside), "string")


def sequence(low: Lowerer, node: Node) -> Expr | None:
    """Lower ``a, b``: the value is the last one."""
    parts = node.named_children
    for part in parts[:-1]:
        low.effect(part)
    return low.expr(parts[-1]) if parts else None


def yielded(low: Lowerer, node: Node) -> Expr | None:
    """Lower ``yield`` and ``yield*``."""
    value = low.expr(child_at(node))
    delegated = any(child.type == "*" for child in node.children)
    low.scope.yields.append(Element(value) if delegated else value)
    return None
