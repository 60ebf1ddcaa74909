"""Classes written as functions with prototypes, and functions with members.

A function whose prototype a file modifies, or that is assigned functions as members, is lowered
to a class whose constructor it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Bind, Expr, Inner, Name
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

_PROTOTYPE = re.compile(rb"([A-Za-z_$][\w$]*)\.prototype\b")
_INHERIT = re.compile(rb"\binherits\(\s*([A-Za-z_$][\w$]*)\s*,")
_STATIC = re.compile(
    rb"^[ \t]*([A-Za-z_$][\w$]*)\.[A-Za-z_$][\w$]*\s*=\s*"
    rb"(?:async\s+)?(?:function\b|\([^()\n]*\)\s*=>|[A-Za-z_$][\w$]*\s*=>)",
    re.M,
)
_NEVER = frozenset({"this", "module", "exports", "window", "global", "globalThis", "self"})


def owners(source: bytes) -> set[str]:
    """The names of functions and objects that are assigned methods outside of their own text."""
    found = set(_STATIC.findall(source))
    if b".prototype" in source:
        found.update(_PROTOTYPE.findall(source))
    if b"inherits(" in source:
        found.update(_INHERIT.findall(source))
    return {name.decode() for name in found} - _NEVER


def scope_of(low: Lowerer, name: str) -> ScopeBuilder | None:
    """The class scope of a function or class that is visible here, if its prototype is used."""
    return low.classes.get((low.scope.number, name)) or low.classes.get((0, name))


def hoisted(nodes: list[Node]) -> list[Node]:
    """Functions first, as at run time; comments stay in front of what they document."""
    first: list[Node] = []
    rest: list[Node] = []
    comments: list[Node] = []
    for node in nodes:
        if node.type == "comment":
            comments.append(node)
            continue
        into = first if node.type == "function_declaration" else rest
        into += [*comments, node]
        comments = []
    return first + rest


def whole(low: Lowerer, name: str, right: Node) -> bool:
    """Lower ``F.prototype = Object.create(G.prototype)``, ``= new G()``, ``= { ... }``; returns
    whether ``F`` is such a class."""
    scope = scope_of(low, name)
    if scope is None:
        return False
    if right.type == "object":
        _object(low, scope, right)
        return True
    base = _base(low, right)
    if base is not None:
        scope.bases.append(base)
    return True


def derived(low: Lowerer, name: Node, value: Node | None) -> Expr | None:
    """``const res = Object.create(proto)`` where ``res`` is then assigned methods: lower it to an
    object."""
    if value is None or value.type != "call_expression" or low.text(name) not in low.constructors:
        return None
    function = value.child_by_field_name("function")
    if function is None or low.text(function) != "Object.create":
        return None
    given = value.child_by_field_name("arguments")
    scope = low.builder.scope("class", -1, low.scope)
    scope.modifiers.append("object")
    scope.prefix = f"{low.scope.prefix}{low.text(name)}."
    scope.bases.append(low.expr(child_at(given)) if given is not None else None)
    low.classes[low.scope.number, low.text(name)] = scope
    return Inner(scope.number)


def _base(low: Lowerer, right: Node) -> Expr | None:
    if right.type == "new_expression":
        return low.expr(right.child_by_field_name("constructor"))
    if right.type == "call_expression":
        given = right.child_by_field_name("arguments")
        first = child_at(given) if given is not None else None
        if first is not None and first.type == "member_expression":
            named = first.child_by_field_name("property")
            if named is not None and low.text(named) == "prototype":
                return low.expr(first.child_by_field_name("object"))
    return None


def _object(low: Lowerer, scope: ScopeBuilder, node: Node) -> None:
    for child, doc in low.documented(node.children):
        named = child.child_by_field_name("key") or child.child_by_field_name("name")
        value = child if child.type == "method_definition" else child.child_by_field_name("value")
        key = key_of(low, named)
        if key is None or value is None:
            continue
        low.doc = doc
        _method(low, child, scope, key, value)


def _method(
    low: Lowerer,
    node: Node,
    scope: ScopeBuilder,
    name: str,
    value: Node,
    words: tuple[str, ...] = (),
) -> None:
    around, low.scope = low.scope, scope
    if value.type in FUNCTIONS or value.type == "method_definition":
        definition = functions.define(low, value, EntityKind.METHOD, name, around=node)
        functions.lower(low, value, definition, name).modifiers.extend(words)
        low.scope = around
        return
    low.scope = around
    scope.binds.append(Bind(Name(name), low.expr(value), None, line_of(node)))


def member(low: Lowerer, node: Node, of: str, name: str, right: Node) -> bool:
    """Lower ``F.prototype.name = value``; returns whether ``F`` is such a class."""
    scope = scope_of(low, of)
    if scope is None:
        return False
    _method(low, node, scope, name, right)
    return True


def static(low: Lowerer, node: Node, of: Node, name: str, right: Node) -> bool:
    """Lower ``X.name = function () {}``, ``this.name = () => {}`` to a method of the object;
    returns whether it is one."""
    base = low.text(of)
    owner = scope_of(low, base) if of.type == "identifier" else None
    if owner is not None and right.type not in FUNCTIONS:
        chained = right.type == "assignment_expression"
        value = low.expr(right)
        if chained and value is None:
            value = low.expr(right.child_by_field_name("left"))
        owner.binds.append(Bind(Name(name), value, None, line_of(node)))
        return True
    if right.type not in FUNCTIONS:
        return False
    if of.type not in ("identifier", "this") or (of.type == "this" and low.scope is low.file):
        return False
    if owner is not None:
        _method(low, node, owner, name, right, words=("static",))
        return True
    to = low.expr(of)
    prefix = low.scope.prefix
    low.scope.prefix = f"{prefix}{base}." if of.type == "identifier" else prefix
    definition = functions.define(low, right, EntityKind.METHOD, name, around=node)
    low.scope.prefix = prefix
    if base in ("exports", "module.exports"):
        low.exported.add(name)
    this = to if of.type == "identifier" else None
    low.expected = Attr(to, name)
    scope = functions.lower(low, right, definition, owner=this)
    low.bind(Attr(to, name), Inner(scope.number), line_of(node))
    return True


def inheritance(low: Lowerer, function: Node, given: Node | None) -> None:
    """Lower ``util.inherits(A, B)`` and ``Object.assign(A.prototype, { ... })``."""
    if given is None or given.type != "arguments" or given.named_child_count < 2:
        return
    called = low.text(function) if function.end_byte - function.start_byte < 40 else ""
    if called.rpartition(".")[2] not in ("inherits", "assign", "setPrototypeOf"):
        return
    first, second = given.named_children[:2]
    name = low.text(first).removesuffix(".prototype")
    scope = scope_of(low, name)
    if scope is None:
        return
    if called.endswith("inherits"):
        scope.bases.append(low.expr(second))
    elif second.type == "object":
        _object(low, scope, second)
    elif second.type == "member_expression" and low.text(second).endswith(".prototype"):
        scope.bases.append(low.expr(second.child_by_field_name("object")))
