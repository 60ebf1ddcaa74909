"""Lowers the parameters of a function or lambda."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Param

if TYPE_CHECKING:
    from tree_sitter import Node

    from plugins.codegraph.languages.python.reader import Reader

_STARS = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}


def parameters(lowering: Reader, node: Node | None) -> list[Param]:
    """Lower a parameter list; defaults are evaluated in the scope that contains the function."""
    found: list[Param] = []
    if node is None:
        return found
    kind = ""
    for each in node.named_children:
        if each.type == "keyword_separator":
            kind = "k"
            continue
        param = _parameter(lowering, each, kind)
        if param is not None:
            found.append(param)
            if param.kind == "*":
                kind = "k"
    return found


def _parameter(lowering: Reader, node: Node, kind: str) -> Param | None:
    what = node.type
    if what == "identifier":
        return Param(lowering.noted_local(node), None, None, kind)
    if what in _STARS:
        return Param(lowering.noted_local(node.named_children[0]), None, None, _STARS[what])
    if what == "typed_parameter":
        inner = node.named_children[0]
        stated = lowering.annotation(node.child_by_field_name("type"))
        if inner.type in _STARS:
            name = lowering.noted_local(inner.named_children[0])
            return Param(name, stated, None, _STARS[inner.type])
        return Param(lowering.noted_local(inner), stated, None, kind)
    if what in ("default_parameter", "typed_default_parameter"):
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return None
        stated = lowering.annotation(node.child_by_field_name("type"))
        default = lowering.expr(node.child_by_field_name("value"))
        return Param(lowering.noted_local(name_node), stated, default, kind)
    return None
