"""JSX: using a component is a call of it, with its properties as the argument."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import CALLED, Arg, Call, Expr, Many, Table
from plugins.codegraph.languages.typescript.lowerer import Lowerer, child_at, last_line

if TYPE_CHECKING:
    from tree_sitter import Node


def element(low: Lowerer, node: Node) -> Expr | None:
    """Lower an element; one whose name begins with a lower-case letter is the host's own."""
    opening = node.child_by_field_name("open_tag")
    if node.type == "jsx_self_closing_element":
        opening = node
    inside = [
        low.expr(child)
        for child in node.named_children
        if child.type in ("jsx_element", "jsx_self_closing_element", "jsx_expression")
    ]
    if node.type == "jsx_self_closing_element":
        inside = []
    children = tuple(each for each in inside if each is not None)
    named = opening.child_by_field_name("name") if opening is not None else None
    if opening is None or named is None:
        return Many(children)
    properties = _attributes(low, opening)
    if children:
        properties.append(("children", children[0] if len(children) == 1 else Many(children)))
    if named.type == "identifier" and low.text(named)[:1].islower():
        return Many(tuple(value for _, value in properties))
    low.calls += 1
    of = low.used(named, CALLED)
    return Call(of, (Arg(Table(tuple(properties))),), last_line(named))


def _attributes(low: Lowerer, opening: Node) -> list[tuple[str | None, Expr | None]]:
    found: list[tuple[str | None, Expr | None]] = []
    for child in opening.named_children:
        if child.type == "jsx_attribute":
            value = low.expr(child_at(child, 1)) if child.named_child_count > 1 else None
            first = child_at(child)
            found.append((low.text(first) if first is not None else None, value))
        elif child.type == "jsx_expression":
            found.append((None, low.expr(child)))
    return found
