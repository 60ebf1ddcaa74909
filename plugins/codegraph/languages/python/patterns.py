"""Lowers ``match``: the bindings of a case's patterns, and the types they imply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    KEYWORD,
    PLAIN,
    Attr,
    Bind,
    Element,
    Expr,
    Item,
    OneOf,
    Typed,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from plugins.codegraph.languages.python.statements import Statements

_MAX_DEPTH = 30


def case(lowering: Statements, node: Node, subject: Expr | None, named: Node | None) -> None:
    """Lower a case's patterns and guard, but not its block.

    Args:
        lowering: the file being lowered.
        node: the case.
        subject: what is matched.
        named: the subject's node; a plain name is narrowed to the pattern's class.
    """
    for each in node.children_by_field_name("alternative") or node.named_children:
        if each.type != "case_pattern":
            continue
        stated = pattern(lowering, each, subject)
        if stated is not None and named is not None and named.type == "identifier":
            lowering.scope.binds.append(lowering.flow.narrow(lowering.text(named), stated))
    guard = node.child_by_field_name("guard")
    if guard is not None and guard.named_children:
        lowering.run(guard.named_children[0])


def pattern(lowering: Statements, node: Node, value: Expr | None, depth: int = 0) -> Expr | None:
    """Bind what a pattern captures.

    Returns:
        The class that the pattern implies for the value, or None.
    """
    if depth > _MAX_DEPTH:
        return None
    kind = node.type
    if kind == "case_pattern":
        inner = node.named_children
        return pattern(lowering, inner[0], value, depth + 1) if inner else None
    if kind == "dotted_name":
        if len(node.named_children) == 1:
            _bind(lowering, node.named_children[0], value)
        else:
            _dotted(lowering, node, PLAIN)
        return None
    if kind == "as_pattern":
        stated = pattern(lowering, node.named_children[0], value, depth + 1)
        _bind(lowering, node.named_children[-1], value if stated is None else Typed(stated))
        return stated
    if kind == "union_pattern":
        found = [pattern(lowering, each, value, depth + 1) for each in node.named_children]
        return OneOf(tuple(found)) if all(each is not None for each in found) else None
    if kind == "class_pattern":
        return _class(lowering, node, depth)
    _parts(lowering, node, value, depth)
    return None


def _bind(lowering: Statements, node: Node, value: Expr | None) -> None:
    target = lowering.target(node)
    if target is not None:
        lowering.scope.binds.append(Bind(target, value, None, node.start_point[0] + 1))


def _dotted(lowering: Statements, node: Node, how: str) -> Expr | None:
    first, *rest = node.named_children
    found: Expr | None = lowering.used(first, PLAIN if rest else how)
    for each in rest:
        found = lowering.noted(Attr(found, lowering.text(each)), each, how)
    return found


def _class(lowering: Statements, node: Node, depth: int) -> Expr | None:
    of, *parts = node.named_children
    stated = _dotted(lowering, of, AS_TYPE)
    for each in parts:
        inner = each.named_children[0] if each.named_children else None
        if inner is not None and inner.type == "keyword_pattern":
            name, *value = inner.named_children
            member = Attr(Typed(stated), lowering.text(name))
            lowering.noted(Attr(stated, lowering.text(name)), name, KEYWORD)
            for part in value:
                pattern(lowering, part, member, depth + 1)
        elif inner is not None:
            pattern(lowering, each, None, depth + 1)
    return stated


def _parts(lowering: Statements, node: Node, value: Expr | None, depth: int) -> None:
    place = 0
    for each in node.named_children:
        if each.type == "splat_pattern":
            if each.named_children:
                _bind(lowering, each.named_children[-1], OneOf((value,)))
        elif each.type == "case_pattern":
            whole = node.type in ("list_pattern", "tuple_pattern")
            part: Expr = Item(value, str(place)) if whole else Element(value, 1)
            pattern(lowering, each, part, depth + 1)
            place += 1
