"""Lowers Rust's ``use`` trees to imports.

A path is relative to the file's own module: it begins with ``self::``, ``super::`` or
``crate::``, and in an inline module ``super`` is one step back to the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Import

if TYPE_CHECKING:
    from tree_sitter import Node

    from plugins.codegraph.languages.rust.types import Types

_PATHS = ("scoped_identifier", "identifier", "self", "super", "crate", "metavariable")


def imports_of(builder: Types, node: Node) -> list[Import]:
    """The names that a ``use`` or ``extern crate`` item imports."""
    line = node.start_point[0] + builder.row
    public = node.children[0].type == "visibility_modifier"
    if node.type == "extern_crate_declaration":
        crate = builder.text_of(node, "name")
        given = builder.text_of(node, "alias") or crate
        return [Import(given, f"::{crate}", exported=given if public else "", line=line)]
    argument = node.child_by_field_name("argument")
    found: list[Import] = []
    if argument is not None:
        _tree(builder, argument, [], (public, line), found)
    return found


def _tree(
    builder: Types, node: Node, prefix: list[str], how: tuple[bool, int], found: list[Import]
) -> None:
    if builder.deeper(node):
        return
    builder.depth += 1
    kind = node.type
    if kind in _PATHS:
        _one(builder, [*prefix, *_segments(builder, node)], "", how, found)
    elif kind == "use_as_clause":
        path = _segments(builder, node.child_by_field_name("path"))
        _one(builder, [*prefix, *path], builder.text_of(node, "alias"), how, found)
    elif kind == "use_wildcard":
        inner = node.named_children[0] if node.named_child_count else None
        _star(builder, [*prefix, *_segments(builder, inner)], how, found)
    elif kind in ("use_list", "scoped_use_list"):
        within = [*prefix, *_segments(builder, node.child_by_field_name("path"))]
        listed = node.child_by_field_name("list") or node
        for child in listed.named_children:
            _tree(builder, child, within, how, found)
    builder.depth -= 1


def _segments(builder: Types, node: Node | None) -> list[str]:
    if node is None:
        return []
    text = "".join(builder.text(node).split())
    return text.split("::")


def _one(
    builder: Types, parts: list[str], alias: str, how: tuple[bool, int], found: list[Import]
) -> None:
    public, line = how
    if parts and parts[-1] == "self" and len(parts) > 1:
        parts = parts[:-1]
    name = parts[-1]
    given = alias or name
    given = "" if given == "_" else given
    module, symbol = _placed(builder, parts[:-1]), name
    if len(parts) == 1 or name in ("crate", "self", "super"):
        module, symbol = _placed(builder, parts), ""
        if len(parts) == 1 and name not in ("crate", "self", "super"):
            module = f"?{name}"
    exported = given if public else ""
    found.append(Import(given, module, symbol, exported=exported, line=line))


def _star(builder: Types, parts: list[str], how: tuple[bool, int], found: list[Import]) -> None:
    public, line = how
    exported = "*" if public else ""
    found.append(Import("", _placed(builder, parts), "*", exported=exported, line=line))


def _placed(builder: Types, parts: list[str]) -> str:
    """A path relative to the file's module."""
    inline = list(builder.modules)
    if not parts or not inline or parts[0] not in ("self", "super"):
        return "::".join(parts)
    rest = list(parts)
    if rest[0] == "self":
        rest.pop(0)
        if rest and rest[0] != "super":
            return "::".join(["self", *inline, *rest])
    while rest and rest[0] == "super" and inline:
        inline.pop()
        rest.pop(0)
    if rest and rest[0] == "super":
        return "::".join(rest)
    return "::".join(["self", *inline, *rest])
