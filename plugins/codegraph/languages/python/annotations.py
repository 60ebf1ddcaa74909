"""Lowers type annotations, string annotations included."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Expr, Group, Item, Literal, Name, OneOf
from plugins.codegraph.languages.base import parser

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 20


def annotation(source: bytes, node: Node | None, depth: int = 0) -> Expr | None:
    """Lower a type annotation; None where it is not a type.

    Args:
        source: the text that the node belongs to.
        node: the annotation.
        depth: how deeply it is nested in other annotations.
    """
    if node is None or depth > _MAX_DEPTH:
        return None
    work = _KINDS.get(node.type)
    return None if work is None else work(source, node, depth)


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _inside(source: bytes, node: Node, depth: int) -> Expr | None:
    children = node.named_children
    return annotation(source, children[0], depth + 1) if children else None


def _attribute(source: bytes, node: Node, depth: int) -> Expr | None:
    of, member = node.named_children[0], node.named_children[-1]
    return Attr(annotation(source, of, depth + 1), _text(source, member))


def _generic(source: bytes, node: Node, depth: int) -> Expr | None:
    of, *rest = node.named_children
    args: list[Expr | None] = []
    for each in rest:
        parts = each.named_children if each.type == "type_parameter" else [each]
        args += [annotation(source, part, depth + 1) for part in parts]
    if _text(source, of).rpartition(".")[2] == "Union":
        return OneOf(tuple(args))
    return Item(annotation(source, of, depth + 1), None, tuple(args))


def _union(source: bytes, node: Node, depth: int) -> Expr | None:
    if node.type == "binary_operator":
        operator = node.child_by_field_name("operator")
        if operator is None or operator.type != "|":
            return None
    return OneOf(tuple(annotation(source, each, depth + 1) for each in node.named_children))


def _list(source: bytes, node: Node, depth: int) -> Expr | None:
    items = tuple(annotation(source, each, depth + 1) for each in node.named_children)
    return Group("t" if node.type == "tuple" else "l", items)


def _string(source: bytes, node: Node, depth: int) -> Expr | None:
    content = b"".join(
        source[each.start_byte : each.end_byte]
        for each in node.named_children
        if each.type == "string_content"
    ).strip()
    if not content:
        return None
    tree = parser("python").parse(content)
    statement = next(iter(tree.root_node.named_children), None)
    if statement is None or not statement.named_children:
        return None
    return annotation(content, statement.named_children[0], depth + 1)


_KINDS: dict[str, Callable[[bytes, Node, int], Expr | None]] = {
    "identifier": lambda source, node, depth: Name(_text(source, node)),
    "type": _inside,
    "parenthesized_expression": _inside,
    "attribute": _attribute,
    "member_type": _attribute,
    "generic_type": _generic,
    "subscript": _generic,
    "union_type": _union,
    "binary_operator": _union,
    "list": _list,
    "tuple": _list,
    "string": _string,
    "none": lambda source, node, depth: Literal("None"),
}
