"""Lowers ``require``, ``module.exports``, prototypes, and ``import()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Arg, Bind, Call, Expr, Import, Inner, Name, Unwrapped
from plugins.codegraph.languages.typescript import functions, objects, prototypes
from plugins.codegraph.languages.typescript.lowerer import (
    CLASSES,
    FUNCTIONS,
    Lowerer,
    child_at,
    last_line,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import key_of
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

WHOLE = "module.exports"
"""The name, in a file's scope, of the value assigned to ``module.exports``."""


def literal_argument(low: Lowerer, call: Node) -> str:
    """The only argument of a call if it is a string literal, else ""."""
    return _literal(low, call.child_by_field_name("arguments"))


def _literal(low: Lowerer, given: Node | None) -> str:
    first = child_at(given) if given is not None else None
    if first is None or first.type not in ("string", "template_string"):
        return ""
    text = low.text(first)[1:-1]
    return "" if "${" in text else text


def _module_of(low: Lowerer, node: Node | None) -> str:
    """The module of ``require("...")``, else ""."""
    if node is None or node.type != "call_expression":
        return ""
    function = node.child_by_field_name("function")
    if function is None or function.type != "identifier" or low.text(function) != "require":
        return ""
    return literal_argument(low, node)


def required(low: Lowerer, function: Node, given: Node | None) -> Expr | None:
    """Lower ``require("x")`` within an expression; None for any other call."""
    if low.text(function) != "require":
        return None
    module = _literal(low, given)
    return low.whole(module, line_of(function)) if module else None


def declaration(low: Lowerer, name: Node, value: Node) -> bool:
    """Lower ``const x = require("y")``, also with a member or a pattern; returns whether it was
    one."""
    symbol = ""
    if value.type == "member_expression":
        named = value.child_by_field_name("property")
        symbol = low.text(named) if named is not None else ""
        value = value.child_by_field_name("object") or value
    module = _module_of(low, value)
    if not module:
        return False
    line = line_of(name)
    if name.type == "identifier":
        alias = low.named(low.text(name)).id
        low.scope.imports.append(Import(alias, module, symbol=symbol, line=line))
        return True
    if name.type != "object_pattern" or symbol:
        return False
    for child in name.named_children:
        named = child.child_by_field_name("key") or child
        bound = child.child_by_field_name("value") or child
        if bound.type not in ("identifier", "shorthand_property_identifier_pattern"):
            return False
        key = key_of(low, named)
        alias = low.named(low.text(bound)).id
        low.scope.imports.append(Import(alias, module, symbol=key or "", line=line))
    return True


def dynamic_import(low: Lowerer, call: Node, given: Node | None) -> Expr | None:
    """``import("./x")``: the module itself; awaiting it changes nothing."""
    module = literal_argument(low, call)
    if module:
        return low.whole(module, line_of(call))
    for child in given.named_children if given is not None else []:
        low.effect(child)
    return None


def then(low: Lowerer, function: Node, given: Node | None) -> Expr | None:
    """``p.then((x) => ...)``: the function is called with the promised value; for ``import()`` that
    is the module."""
    of = function.child_by_field_name("object")
    named = function.child_by_field_name("property")
    if of is None or named is None or low.text(named) != "then":
        return None
    callee = of.child_by_field_name("function") if of.type == "call_expression" else None
    module = literal_argument(low, of) if callee is not None and callee.type == "import" else ""
    first = child_at(given) if given is not None else None
    if first is None or first.type not in FUNCTIONS:
        return None
    if not module:
        low.calls += 1
        awaited = Arg(Unwrapped(low.expr(of)))
        return Call(low.expr(first), (awaited,), last_line(function))
    low.calls += 1
    return Call(low.expr(first), (Arg(low.whole(module, line_of(of))),), last_line(function))


# -- assignments to members -----------------------------------------------------------------


def assigned(low: Lowerer, node: Node, left: Node, right: Node) -> bool:
    """Lower an assignment to exports, a prototype or a function-valued member; returns whether it
    was one."""
    if left.type != "member_expression":
        return False
    of, named = left.child_by_field_name("object"), left.child_by_field_name("property")
    if of is None or named is None:
        return False
    base, name = low.text(of), low.text(named)
    if base == "module" and name == "exports":
        return _exports_whole(low, node, right)
    if base in ("exports", "module.exports", "this") and low.scope is low.file:
        return _exports_one(low, node, name, right) if base != "this" else False
    if name == "prototype" and of.type == "identifier":
        return prototypes.whole(low, base, right)
    if base.endswith(".prototype") and base.count(".") == 1:
        return prototypes.member(low, node, base.partition(".")[0], name, right)
    return prototypes.static(low, node, of, name, right)


def _exports_whole(low: Lowerer, node: Node, right: Node) -> bool:
    low.module = True
    line = line_of(node)
    while right.type == "assignment_expression":
        low.effect(right)
        right = right.child_by_field_name("left") or right
    module = _module_of(low, right)
    if module:
        low.file.imports.append(Import("", module, symbol="*", exported="*", line=line))
    if right.type == "object":
        for child in right.named_children:
            if child.type == "shorthand_property_identifier":
                low.export(low.text(child), low.text(child), line)
    if right.type == "identifier":
        low.exported.add(low.text(right))
    low.exported.add(WHOLE)
    low.file.binds.append(Bind(Name(WHOLE), _value(low, node, right, "module.exports"), None, line))
    return True


def _value(low: Lowerer, node: Node, right: Node, name: str) -> Expr | None:
    """Lower the value of an assignment; functions, classes and objects become definitions."""
    from plugins.codegraph.languages.typescript import classes

    if right.type in FUNCTIONS:
        own = right.child_by_field_name("name")
        shown = low.text(own) if own is not None else name
        definition = functions.define(low, right, EntityKind.FUNCTION, shown, around=node)
        low.exported.add(shown)
        return Inner(functions.lower(low, right, definition).number)
    if right.type in CLASSES:
        own = right.child_by_field_name("name")
        shown = low.text(own) if own is not None else name
        low.exported.add(shown)
        scope = classes.lower(low, right, shown, around=node)
        scope.name = ""
        return Inner(scope.number)
    if right.type == "object":
        return objects.lower(low, right, name)
    return low.expr(right)


def _exports_one(low: Lowerer, node: Node, name: str, right: Node) -> bool:
    """``exports.name = value``."""
    line = line_of(node)
    if right.type == "identifier" and name not in ("default",):
        low.export(name, low.text(right), line)
        return True
    module = _module_of(low, right)
    if module:
        low.module = True
        low.file.imports.append(Import("", module, symbol="", exported=name, line=line))
        return True
    value_node = right
    while value_node.type == "assignment_expression":
        value_node = value_node.child_by_field_name("right") or value_node
        if value_node.type != "assignment_expression":
            low.effect(right)
            low.export(name, f"exports.{name}", line)
            low.file.binds.append(Bind(Name(f"exports.{name}"), low.expr(value_node), None, line))
            return True
    low.export(name, f"exports.{name}", line)
    low.exported.add(name)
    value = _value(low, node, right, name)
    low.file.binds.append(Bind(Name(f"exports.{name}"), value, None, line))
    if low.file.prefix == "" and value is None:
        low.exported.add(name)
    return True
