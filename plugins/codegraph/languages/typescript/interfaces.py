"""Lowers interfaces, type aliases, enums and namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Name
from plugins.codegraph.languages.typescript import functions, types
from plugins.codegraph.languages.typescript.builder import ScopeBuilder
from plugins.codegraph.languages.typescript.lowerer import Lowerer, child_at, line_of
from plugins.codegraph.languages.typescript.patterns import key_of
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

CALL = "()"
"""The member name of an interface's call signature."""


def _scope(low: Lowerer, node: Node, name: str, word: str, around: Node | None) -> ScopeBuilder:
    """Define an interface, enum or namespace, and open its scope."""
    kind = EntityKind.INTERFACE if word == "interface" else EntityKind.CLASS
    definition = functions.define(low, node, kind, name, around=around)
    scope = low.builder.scope("class", definition, low.scope)
    scope.name = name
    scope.modifiers.append(word)
    return scope


def interface(low: Lowerer, node: Node, around: Node | None = None) -> str:
    """Lower ``interface I extends J { ... }``; returns its name."""
    name = low.text(node.child_by_field_name("name") or node)
    scope = _scope(low, node, name, "interface", around)
    for child in node.named_children:
        if child.type in ("extends_type_clause", "extends_clause"):
            stated = (types.base(low, each) for each in child.named_children)
            scope.bases.extend(each for each in stated if each is not None)
    low.later(scope, lambda: _body(low, node, node.child_by_field_name("body")))
    return name


def _body(low: Lowerer, node: Node, body: Node | None) -> None:
    functions.type_parameters(low, node)
    if body is not None:
        members(low, body)


def members(low: Lowerer, body: Node) -> None:
    """Lower the members of an interface or an object type into the current scope."""
    seen: set[str] = set()
    named = low.scope.definition >= 0
    for child, doc in low.documented(body.children):
        low.doc = doc
        kind = child.type
        if kind == "call_signature":
            functions.lower(low, child, -1, CALL).modifiers.append("signature")
        if kind not in ("property_signature", "method_signature"):
            continue
        name = key_of(low, child.child_by_field_name("name"))
        if name is None or name in seen:
            continue
        seen.add(name)
        if kind == "method_signature":
            _method(low, child, child, name, named=named)
        else:
            _property(low, child, name, named=named)


def _method(low: Lowerer, member: Node, function: Node, name: str, *, named: bool) -> None:
    definition = -1
    if named:
        definition = functions.define(low, function, EntityKind.METHOD, name, around=member)
    functions.lower(low, function, definition, name).modifiers.append("signature")


def _property(low: Lowerer, node: Node, name: str, *, named: bool) -> None:
    stated = node.child_by_field_name("type")
    inside = child_at(stated) if stated is not None else None
    while inside is not None and inside.type == "parenthesized_type":
        inside = child_at(inside)
    if inside is not None and inside.type == "function_type":
        _method(low, node, inside, name, named=named)
        return
    if named:
        functions.define(low, node, EntityKind.VARIABLE, name)
    low.bind(Name(name), None, line_of(node), types.annotated(low, stated))


def alias(low: Lowerer, node: Node, around: Node | None = None) -> str:
    """Lower ``type T = ...``: an interface for an object type, else a variable. Returns its
    name."""
    name = low.text(node.child_by_field_name("name") or node)
    value = node.child_by_field_name("value")
    if value is not None and value.type == "object_type":
        scope = _scope(low, node, name, "interface", around)
        low.later(scope, lambda: _body(low, node, value))
        return name
    if low.scope is low.file:
        functions.define(low, node, EntityKind.VARIABLE, name, around=around)
    stated = types.lower(low, value)
    if stated is not None:
        low.bind(Name(name), None, line_of(node), stated)
    return name


def enum(low: Lowerer, node: Node, around: Node | None = None) -> str:
    """Lower ``enum E { A, B = f() }``: a class whose members are static. Returns its name."""
    name = low.text(node.child_by_field_name("name") or node)
    scope = _scope(low, node, name, "enum", around)
    body = node.child_by_field_name("body")
    around_scope, low.scope = low.scope, scope
    for child, doc in low.documented(body.children if body is not None else []):
        low.doc = doc
        named = child.child_by_field_name("name") if child.type == "enum_assignment" else child
        key = key_of(low, named)
        if key is None:
            continue
        functions.define(low, child, EntityKind.VARIABLE, key)
        low.effect(child.child_by_field_name("value"))
        low.bind(Name(key), None, line_of(child), Name(name))
    low.scope = around_scope
    return name


def namespace(low: Lowerer, node: Node) -> str:
    """Lower ``namespace N { ... }``: a class whose body sees its members by bare names. Returns its
    name."""
    named = node.child_by_field_name("name")
    name = key_of(low, named) or ""
    body = node.child_by_field_name("body")
    scope = _scope(low, node, name, "namespace", None)
    scope.name = name.partition(".")[0]
    inside = body.children if body is not None else []
    low.later(scope, lambda: low.statements(inside))
    return name
