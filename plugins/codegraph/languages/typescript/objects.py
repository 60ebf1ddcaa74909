"""Lowers object literals: to tables, or to classes where they have methods.

An object with methods is lowered to a class all of whose members are static, marked ``object``:
so ``this`` in its methods is the object, and a spread is a base.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Bind, Call, Expr, Inner, Name, Table
from plugins.codegraph.languages.typescript import functions
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


def lower(low: Lowerer, node: Node, name: str = "", definition: int = -1) -> Expr:
    """Lower an object literal.

    Args:
        low: the file being lowered.
        node: the literal.
        name: the name it is bound to; its methods are then definitions.
        definition: the variable that it is the value of, or -1.
    """
    expected, low.expected = low.expected, None
    extended = bool(name) and name in low.constructors
    if not extended and not _has_methods(node, bool(name)):
        return _table(low, node, expected)
    scope = low.builder.scope("class", definition, low.scope)
    scope.modifiers.append("object")
    if extended:
        low.classes[low.scope.number, name] = scope
    if definition < 0 and name:
        scope.prefix = f"{low.scope.prefix}{name}."
    _members(low, scope, node, expected, named=bool(name))
    return Inner(scope.number)


def merged(low: Lowerer, call: Call) -> None:
    """Bind what ``Object.assign(to, ...)`` writes to ``to``: the members of literals, each by its
    name; of anything else all, as if ``to`` might be that too."""
    of = call.of
    if type(of) is not Attr or of.name != "assign" or of.of != Name("Object") or not call.args:
        return
    to = call.args[0].value
    if type(to) is not Name and type(to) is not Attr:
        return
    low.written.forget()
    for each in call.args[1:]:
        for name, value in _literally(low, each.value):
            if isinstance(value, Name | Attr | Inner):
                low.bind(Attr(to, name), value, call.line)
        if isinstance(each.value, Name | Attr) and to != Name("this"):
            low.bind(to, each.value, call.line)


def _literally(low: Lowerer, value: Expr | None) -> list[tuple[str, Expr | None]]:
    """The members of an object literal that have names."""
    if isinstance(value, Table):
        return [(name, held) for name, held in value.items if name is not None]
    if not isinstance(value, Inner):
        return []
    made = low.builder.scopes[value.scope]
    bound = [each.target.id for each in made.binds if isinstance(each.target, Name)]
    inner = low.builder.scopes[value.scope + 1 :]  # made just now: the last ones
    own = [each.name for each in inner if each.parent == value.scope and each.name]
    return [(name, Attr(value, name)) for name in dict.fromkeys([*bound, *own])]


def _has_methods(node: Node, named: bool) -> bool:
    """Whether a table is not enough: there is a method, a spread, or a named function."""
    for child in node.named_children:
        kind = child.type
        if kind in ("method_definition", "spread_element"):
            return True
        if named and kind == "pair":
            value = child.child_by_field_name("value")
            if value is not None and value.type in FUNCTIONS:
                return True
            if value is not None and value.type == "object" and _has_methods(value, True):
                return True
    return False


def _table(low: Lowerer, node: Node, expected: Expr | None) -> Expr:
    items: list[tuple[str | None, Expr | None]] = []
    for child in node.named_children:
        kind = child.type
        if kind == "pair":
            key = child.child_by_field_name("key")
            name = _key(low, key)
            value = low.given(child.child_by_field_name("value"), _member(expected, name))
            items.append((name, value))
        elif kind == "shorthand_property_identifier":
            items.append((low.text(child), low.expr(child)))
    return Table(tuple(items))


def _key(low: Lowerer, node: Node | None) -> str | None:
    if node is not None and node.type == "computed_property_name":
        before = low.calls
        low.keep(low.expr(child_at(node)), before)
    return key_of(low, node)


def _member(expected: Expr | None, name: str | None) -> Expr | None:
    """The contextual type of a member."""
    return Attr(expected, name) if expected is not None and name is not None else None


def _members(
    low: Lowerer, scope: ScopeBuilder, node: Node, expected: Expr | None, *, named: bool
) -> None:
    for child, doc in low.documented(node.children):
        low.doc = doc
        kind = child.type
        if expected is not None:
            key_node = child.child_by_field_name("key") or child.child_by_field_name("name")
            low.expected = _member(expected, key_of(low, key_node))
        if kind == "spread_element":
            scope.bases.append(low.expr(child_at(child)))
        elif kind == "shorthand_property_identifier":
            key = low.text(child)
            scope.binds.append(Bind(Name(key), low.expr(child), None, line_of(child)))
        elif kind == "method_definition":
            _method(low, scope, child, child, named=named)
        elif kind == "pair":
            value = child.child_by_field_name("value")
            if value is not None and value.type in FUNCTIONS:
                _method(low, scope, child, value, named=named)
            else:
                _value(low, scope, child, value, named=named)
        low.expected = None
    low.doc = ""


def _value(
    low: Lowerer, scope: ScopeBuilder, pair: Node, value: Node | None, *, named: bool
) -> None:
    key = _key(low, pair.child_by_field_name("key"))
    if value is not None and value.type == "object" and named and key:
        around, low.scope = low.scope, scope
        held = lower(low, value, key)
        low.scope = around
        scope.binds.append(Bind(Name(key), held, None, line_of(pair)))
        return
    before = low.calls
    held_value = low.given(value, low.expected)
    if key is None:
        low.keep(held_value, before)
    else:
        scope.binds.append(Bind(Name(key), held_value, None, line_of(pair)))


def _method(
    low: Lowerer, scope: ScopeBuilder, member: Node, function: Node, *, named: bool
) -> None:
    """Lower a function in an object. An arrow function's ``this`` is not the object."""
    key = _key(low, member.child_by_field_name("key") or member.child_by_field_name("name"))
    around, low.scope = low.scope, scope
    definition = -1
    if key is not None and named:
        definition = functions.define(low, function, EntityKind.METHOD, key, around=member)
    if function.type == "arrow_function":
        low.scope = around
        made = functions.lower(low, function, definition, "")
        if key is not None:
            scope.binds.append(Bind(Name(key), Inner(made.number), None, line_of(member)))
    else:
        made = functions.lower(low, function, definition, key or "")
        made.modifiers.append("static")
        low.scope = around
