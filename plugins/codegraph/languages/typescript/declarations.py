"""Lowers ``const``, ``let``, ``var`` and ``function``, and decides what becomes a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Bind, Expr, Name
from plugins.codegraph.languages.typescript import (
    classes,
    commonjs,
    functions,
    jsdoc,
    objects,
    prototypes,
    types,
)
from plugins.codegraph.languages.typescript.lowerer import (
    CLASSES,
    FUNCTIONS,
    Lowerer,
    child_at,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import names_of, note_members, target
from plugins.codegraph.languages.typescript.written import RENAMED
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node


def variables(low: Lowerer, node: Node) -> None:
    """Lower a declaration of one or more variables."""
    doc = low.doc
    for child in node.named_children:
        if child.type == "variable_declarator":
            low.doc = doc
            _variable(low, child, node)


def _variable(low: Lowerer, node: Node, whole: Node) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    while value is not None and value.type == "parenthesized_expression":
        value = child_at(value)
    if value is not None and value.type == "assignment_expression" and name.type == "identifier":
        value = _chained(low, name, value)
    if name.type == "identifier":
        text = low.text(name)
        around = whole if whole.named_child_count == 1 else node
        if value is not None and value.type in FUNCTIONS:
            annotation = node.child_by_field_name("type")
            low.expected = types.annotated(low, annotation) if annotation is not None else None
            function(low, value, text, around)
            return
        if value is not None and value.type in CLASSES:
            scope = classes.lower(low, value, text, around=around)
            scope.name = low.named(text).id
            low.classes[low.scope.number, text] = scope
            return
    if value is not None and commonjs.declaration(low, name, value):
        return
    _plain(low, node, name, value)


def _chained(low: Lowerer, name: Node, value: Node) -> Node | None:
    """``const app = module.exports = value``: returns the value; the other targets are bound to the
    name."""
    inner: Node | None = value
    while inner is not None and inner.type == "assignment_expression":
        left = inner.child_by_field_name("left")
        if left is not None and left.type in ("identifier", "member_expression"):
            shown = low.text(left)
            if shown == "module.exports":
                low.module = True
                low.exported.update((commonjs.WHOLE, low.text(name)))
                low.file.binds.append(Bind(Name(commonjs.WHOLE), Name(low.text(name))))
            elif shown != "exports":
                to = target(low, left)
                if to is not None:
                    low.bind(to, low.named(low.text(name)), line_of(inner))
        inner = inner.child_by_field_name("right")
    return inner


def _plain(low: Lowerer, node: Node, name: Node, value: Node | None) -> None:
    """Lower a variable whose value is not an inline function."""
    doc = low.doc
    stated = types.annotated(low, node.child_by_field_name("type"))
    if stated is None and low.javascript and doc:
        stated = jsdoc.stated_type(low, doc)
    definition = _defined(low, node, name)
    held: Expr | None = None
    derived = prototypes.derived(low, name, value)
    low.expected = stated
    if derived is not None:
        held = derived
    elif value is not None and value.type == "object" and name.type == "identifier":
        held = objects.lower(low, value, low.text(name), definition)
        if stated is None:
            low.written.declare(low.scope, low.named(low.text(name)).id)
    elif value is not None:
        held = _cast(low, value, name, definition)
    low.expected = None
    to = _target(low, name, definition)
    if to is not None:
        low.bind(to, held, line_of(node), stated)
        low.written.variable(low.scope, low.scope.binds[-1:])
        note_members(low, name, held if stated is None else stated)


def _target(low: Lowerer, name: Node, definition: int) -> Expr | None:
    """Lower the names that are declared: definitions, or local variables."""
    low.defining = definition >= 0
    if definition < 0:
        low.scope.modifiers += [f"local:{low.named(text).id}" for text, _ in names_of(low, name)]
    found = target(low, name)
    low.defining = False
    return found


def _cast(low: Lowerer, value: Node, name: Node, definition: int) -> Expr | None:
    """Lower a value, possibly an object that is cast: ``{ ... } as const``."""
    inner = value
    while inner.type in ("as_expression", "satisfies_expression"):
        low.expected = types.lower(low, child_at(inner, 1)) or low.expected
        inner = child_at(inner) or inner
    if inner is not value and inner.type == "object" and name.type == "identifier":
        return objects.lower(low, inner, low.text(name), definition)
    return low.given(value, low.expected)


def _defined(low: Lowerer, node: Node, name: Node) -> int:
    """The definition of a variable of the file or of a namespace; -1 for a local variable."""
    if low.scope is not low.file and "namespace" not in low.scope.modifiers:
        return -1
    definition = -1
    for text, at in names_of(low, name):
        if RENAMED in low.named(text).id:
            continue
        around = node if name.type == "identifier" else at
        definition = functions.define(low, around, EntityKind.VARIABLE, text, around=around)
    return definition


def function(low: Lowerer, node: Node, name: str, around: Node) -> None:
    """Lower a named function; one whose prototype is used becomes a class with a constructor."""
    doc = low.doc
    low.implemented.add((low.scope.number, name))
    definition = functions.define(low, node, EntityKind.FUNCTION, name, around=around)
    low.doc = doc
    bound = low.named(name).id
    if name not in low.constructors:
        functions.lower(low, node, definition, bound)
        return
    outer = low.scope
    scope = low.builder.scope("class", definition, outer)
    scope.name = bound
    scope.modifiers.append("prototype")
    low.classes[outer.number, name] = scope
    low.scope = scope
    functions.lower(low, node, definition, "constructor").modifiers.append("constructor")
    low.scope = outer


def import_alias(low: Lowerer, node: Node) -> None:
    """Lower ``import A = N.B``."""
    inside = node.named_children
    if len(inside) == 2:
        low.bind(Name(low.text(inside[0])), low.expr(inside[1]), line_of(node))


__all__ = ["Bind", "function", "import_alias", "variables"]
