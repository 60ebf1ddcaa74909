"""Lowers type annotations, string annotations included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Expr, Group, Item, Literal, Name, OneOf
from plugins.codegraph.languages.base import parser

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Reading:
    """The text that an annotation belongs to.

    Attributes:
        source: the text.
        noted: is given each name, with where it starts in the file (bytes), and its line.
        start, row: where the text begins in the file; not 0 for what is quoted.
    """

    source: bytes
    noted: Callable[[Expr, int, int], None]
    start: int = 0
    row: int = 0

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def named(self, of: Expr, node: Node) -> Expr:
        """Note a use that ends with the name ``node``; returns it."""
        self.noted(of, self.start + node.start_byte, self.row + node.start_point[0] + 1)
        return of


def annotation(reading: Reading, node: Node | None, depth: int = 0) -> Expr | None:
    """Lower a type annotation; None where it is not a type.

    Args:
        reading: the text that the node belongs to.
        node: the annotation.
        depth: how deeply it is nested in other annotations.
    """
    if node is None or depth > _MAX_DEPTH:
        return None
    work = _KINDS.get(node.type)
    return None if work is None else work(reading, node, depth)


def _inside(reading: Reading, node: Node, depth: int) -> Expr | None:
    children = node.named_children
    return annotation(reading, children[0], depth + 1) if children else None


def _attribute(reading: Reading, node: Node, depth: int) -> Expr | None:
    of, member = node.named_children[0], node.named_children[-1]
    return reading.named(Attr(annotation(reading, of, depth + 1), reading.text(member)), member)


def _generic(reading: Reading, node: Node, depth: int) -> Expr | None:
    of, *rest = node.named_children
    args: list[Expr | None] = []
    for each in rest:
        parts = each.named_children if each.type == "type_parameter" else [each]
        args += [annotation(reading, part, depth + 1) for part in parts]
    if reading.text(of).rpartition(".")[2] == "Union":
        return OneOf(tuple(args))
    return Item(annotation(reading, of, depth + 1), None, tuple(args))


def _union(reading: Reading, node: Node, depth: int) -> Expr | None:
    if node.type == "binary_operator":
        operator = node.child_by_field_name("operator")
        if operator is None or operator.type != "|":
            return None
    return OneOf(tuple(annotation(reading, each, depth + 1) for each in node.named_children))


def _list(reading: Reading, node: Node, depth: int) -> Expr | None:
    items = tuple(annotation(reading, each, depth + 1) for each in node.named_children)
    return Group("t" if node.type == "tuple" else "l", items)


def _string(reading: Reading, node: Node, depth: int) -> Expr | None:
    parts = [each for each in node.named_children if each.type == "string_content"]
    whole = b"".join(reading.source[each.start_byte : each.end_byte] for each in parts)
    content = whole.strip()
    if not content:
        return None
    before = len(whole) - len(whole.lstrip())
    start, row = parts[0].start_byte + before, parts[0].start_point[0]
    quoted = Reading(content, reading.noted, reading.start + start, reading.row + row)
    tree = parser("python").parse(content)
    statement = next(iter(tree.root_node.named_children), None)
    if statement is None or not statement.named_children:
        return None
    return annotation(quoted, statement.named_children[0], depth + 1)


_KINDS: dict[str, Callable[[Reading, Node, int], Expr | None]] = {
    "identifier": lambda reading, node, depth: reading.named(Name(reading.text(node)), node),
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
    "none": lambda reading, node, depth: Literal("None"),
}
