"""The arguments that well-known functions pass to their callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Element, Expr, Group, Item, Literal, Name
from plugins.codegraph.languages.typescript.lowerer import Lowerer, child_at

if TYPE_CHECKING:
    from tree_sitter import Node

_FOLDS = frozenset({"reduce", "reduceRight"})
_SORTS = frozenset({"sort", "toSorted"})
_PLAIN = frozenset({"identifier", "new_expression"})


def expected(low: Lowerer, of: Expr | None, given: Node) -> Expr | None:
    """The type of the callback that is a call's first argument, or None where it is unknown.

    Args:
        low: the file being lowered.
        of: what is called.
        given: the arguments.
    """
    if of == Name("Promise"):
        return _function(Literal("function"), Literal("function"))
    if not isinstance(of, Attr):
        return None
    if of.name in _SORTS:
        return _function(Element(of.of), Element(of.of))
    if of.name in _FOLDS:
        first = child_at(given, 1)
        start = low.expr(first) if first is not None and first.type in _PLAIN else None
        return _function(start, Element(of.of))
    return None


def _function(*params: Expr | None) -> Expr:
    return Item(Name("Callable"), None, (Group("t", params), None))
