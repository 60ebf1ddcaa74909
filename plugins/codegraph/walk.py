"""Iterative traversal of expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plugins.codegraph.facts import (
    Attr,
    Call,
    Element,
    Expr,
    Group,
    GuardedBy,
    Inner,
    Item,
    Literal,
    Many,
    Name,
    OneOf,
    ParameterOf,
    Scope,
    Super,
    Table,
    Typed,
    Unwrapped,
)

Parts = Iterable[Expr | None]


def _call(expr: Call) -> Parts:
    if not expr.args:
        return (expr.of,)
    return [expr.of, *[arg.value for arg in expr.args]]


def _item(expr: Item) -> Parts:
    return (expr.of, *expr.args)


def _of(expr: Any) -> Parts:
    return (expr.of,)


def _items(expr: Any) -> Parts:
    return expr.items  # type: ignore[no-any-return]


def _none(expr: Any) -> Parts:
    return ()


_PARTS: dict[type, Callable[[Any], Parts]] = {
    Name: _none,
    Literal: _none,
    Inner: _none,
    Super: _none,
    Attr: _of,
    Element: _of,
    Unwrapped: _of,
    ParameterOf: _of,
    GuardedBy: _of,
    Call: _call,
    Item: _item,
    Group: _items,
    Many: _items,
    Table: lambda expr: [value for _, value in expr.items],
    OneOf: lambda expr: expr.choices,
    Typed: lambda expr: (expr.value,),
}


def parts_of(expr: Expr) -> Parts:
    """The direct subexpressions of an expression, without the type that it states."""
    return _PARTS[type(expr)](expr)


def calls_in(scope: Scope) -> list[Call]:
    """All calls directly in a scope, nested expressions included."""
    found: list[Call] = []
    todo: list[Expr | None] = [*scope.calls, *scope.results, *scope.yields]
    for bind in scope.binds:
        todo += (bind.value, bind.target)
    while todo:
        expr = todo.pop()
        if expr is None:
            continue
        if type(expr) is Call:
            found.append(expr)
        todo += parts_of(expr)
    return found
