"""Lowers classes: heritage, members, accessors, fields, parameter properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import BASE, DECORATOR, Expr, Item, Name
from plugins.codegraph.languages.typescript import functions, jsdoc, objects, types
from plugins.codegraph.languages.typescript.builder import ScopeBuilder
from plugins.codegraph.languages.typescript.lowerer import (
    FUNCTIONS,
    Lowerer,
    child_at,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import key_of
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURES = frozenset({"abstract_method_signature", "method_signature"})
_FIELDS = frozenset({"public_field_definition", "field_definition"})


def lower(
    low: Lowerer,
    node: Node,
    name: str,
    *,
    around: Node | None = None,
    decorators: list[Node] | None = None,
) -> ScopeBuilder:
    """Lower a class; its body is lowered later.

    Args:
        low: the file being lowered.
        node: the class declaration or expression.
        name: the name it is bound to, if it has no name of its own.
        around: the enclosing statement, such as an ``export``.
        decorators: those in front of the enclosing statement.
    """
    own = node.child_by_field_name("name")
    shown = name or (low.text(own) if own is not None else "")
    definition = functions.define(low, node, EntityKind.CLASS, shown or "<class>", around=around)
    scope = low.builder.scope("class", definition, low.scope)
    scope.name = shown
    given = [*(decorators or []), *(c for c in node.named_children if c.type == "decorator")]
    scope.decorators = [low.used(child_at(each), DECORATOR) for each in given]
    if node.type == "abstract_class_declaration":
        scope.modifiers.append("abstract")
    for child in node.named_children:
        if child.type == "class_heritage":
            _heritage(low, scope, child)
    low.later(scope, lambda: _body(low, node))
    return scope


def _heritage(low: Lowerer, scope: ScopeBuilder, node: Node) -> None:
    for child in node.named_children:
        if child.type == "implements_clause":
            stated = (types.base(low, each) for each in child.named_children)
            scope.implements.extend(each for each in stated if each is not None)
        elif child.type == "extends_clause":
            scope.bases.append(_base(low, child))
        elif child.type != "comment":
            scope.bases.append(low.used(child, BASE))


def _base(low: Lowerer, clause: Node) -> Expr | None:
    of = low.used(clause.child_by_field_name("value"), BASE)
    given = clause.child_by_field_name("type_arguments")
    if given is None or of is None:
        return of
    return Item(of, None, tuple(types.lower(low, each) for each in given.named_children))


def _body(low: Lowerer, node: Node) -> None:
    functions.members_this(low)
    functions.type_parameters(low, node)
    body = node.child_by_field_name("body")
    if body is None:
        return
    written = {
        key_of(low, child.child_by_field_name("name"))
        for child in body.named_children
        if child.type == "method_definition"
    }
    decorators: list[Node] = []
    for child, doc in low.documented(body.children):
        if child.type == "decorator":
            decorators.append(child)
            continue
        low.doc = doc
        _member(low, child, decorators, written)
        decorators = []


def _member(low: Lowerer, node: Node, decorators: list[Node], written: set[str | None]) -> None:
    kind = node.type
    if kind == "method_definition":
        low.start = decorators[0].start_byte if decorators else -1
        _method(low, node, decorators)
    elif kind in _SIGNATURES:
        name = key_of(low, node.child_by_field_name("name"))
        if name not in written:
            written.add(name)
            _method(low, node, decorators)
    elif kind in _FIELDS:
        low.start = decorators[0].start_byte if decorators else -1
        _field(low, node, decorators)
    elif kind == "class_static_block":
        block = node.child_by_field_name("body")
        scope = low.builder.scope("function", -1, low.scope)
        scope.modifiers = ["static"]
        low.later(scope, lambda: low.statements(block.children if block is not None else []))


def _hide(low: Lowerer, definition: int, node: Node, name: str) -> None:
    private = name.startswith("#")
    for child in node.named_children:
        if child.type == "accessibility_modifier" and low.text(child) in ("private", "protected"):
            private = True
    low.builder.definitions[definition].private = private


def _method(low: Lowerer, node: Node, decorators: list[Node]) -> None:
    name = key_of(low, node.child_by_field_name("name"))
    definition = -1
    if name is not None:
        doc = low.doc
        definition = functions.define(low, node, EntityKind.METHOD, name)
        _hide(low, definition, node, name)
        low.doc = doc
    static = any(child.type == "static" for child in node.children)
    owner = low.named(low.scope.name) if static and low.scope.name else None
    scope = functions.lower(low, node, definition, name or "", owner=owner)
    if name == "constructor":
        scope.modifiers.append("constructor")
        _properties(low, node)
    inside = [*decorators, *(c for c in node.named_children if c.type == "decorator")]
    scope.decorators = [low.used(child_at(each), DECORATOR) for each in inside]


def _properties(low: Lowerer, node: Node) -> None:
    """Define the constructor parameters that are also fields: ``private svc: Service``."""
    given = node.child_by_field_name("parameters")
    for child in given.named_children if given is not None else []:
        words = {c.type for c in child.children}
        if not words & {"accessibility_modifier", "readonly", "override_modifier"}:
            continue
        pattern = child.child_by_field_name("pattern")
        if pattern is None or pattern.type != "identifier":
            continue
        name = low.text(pattern)
        low.doc = ""
        definition = functions.define(low, child, EntityKind.VARIABLE, name)
        _hide(low, definition, child, name)
        stated = types.annotated(low, child.child_by_field_name("type"))
        value = low.expr(child.child_by_field_name("value")) if stated is None else None
        low.bind(Name(name), value, line_of(child), stated)


def _field(low: Lowerer, node: Node, decorators: list[Node]) -> None:
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    name = key_of(low, named)
    value = node.child_by_field_name("value")
    if name is None:
        low.effect(value)
        return
    words = functions.modifiers(node)
    callable_value = value is not None and value.type in FUNCTIONS
    kind = EntityKind.METHOD if callable_value else EntityKind.VARIABLE
    definition = functions.define(low, value if callable_value else node, kind, name, around=node)  # type: ignore[arg-type]
    _hide(low, definition, node, name)
    inside = [*decorators, *(c for c in node.named_children if c.type == "decorator")]
    for each in inside:
        before = low.calls
        low.keep(low.used(child_at(each), DECORATOR), before)
    if callable_value and value is not None:
        low.expected = types.annotated(low, node.child_by_field_name("type"))
        scope = functions.lower(low, value, definition, name)
        scope.modifiers.extend(word for word in words if word == "static")
        return
    stated = types.annotated(low, node.child_by_field_name("type"))
    if stated is None and low.javascript:
        stated = jsdoc.stated_type(low, low.doc)
    held: Expr | None
    low.expected = stated
    if value is not None and value.type == "object":
        held = objects.lower(low, value, name, definition)
    else:
        held = low.given(value, stated)
    low.expected = None
    low.bind(Name(name), held, line_of(node), stated)
