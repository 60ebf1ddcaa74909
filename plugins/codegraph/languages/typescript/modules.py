"""Lowers ``import`` and ``export`` statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Import, Inner, Name
from plugins.codegraph.languages.typescript import classes, functions, objects, types
from plugins.codegraph.languages.typescript.lowerer import (
    CLASSES,
    FUNCTIONS,
    STATEMENTS,
    Lowerer,
    child_at,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import names_of
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node


def _text(low: Lowerer, node: Node | None) -> str:
    """A name as written, or the string in place of one."""
    if node is None:
        return ""
    text = low.text(node)
    return text[1:-1] if node.type == "string" else text


def _type_only(node: Node) -> bool:
    return any(child.type in ("type", "typeof") for child in node.children)


def imported(low: Lowerer, node: Node) -> None:
    """Lower ``import ... from "x"``, ``import "x"``, ``import x = require("y")``."""
    low.module = True
    line, types = line_of(node), _type_only(node)
    module = _text(low, node.child_by_field_name("source"))
    into = low.scope.imports
    bound = False
    for child in node.named_children:
        if child.type == "import_require_clause":
            module = _text(low, child.child_by_field_name("source"))
            alias = _text(low, child_at(child))
            into.append(Import(alias, module, type_only=types, line=line))
            bound = True
        elif child.type == "import_clause":
            _clause(low, child, module, types=types)
            bound = True
    if not bound and module:
        into.append(Import("", module, line=line))


def _clause(low: Lowerer, node: Node, module: str, *, types: bool) -> None:
    into = low.scope.imports
    for child in node.named_children:
        line = line_of(child)
        if child.type == "identifier":
            into.append(Import(low.text(child), module, "default", type_only=types, line=line))
        elif child.type == "namespace_import":
            into.append(Import(_text(low, child_at(child)), module, type_only=types, line=line))
        elif child.type == "named_imports":
            for each in child.named_children:
                if each.type != "import_specifier":
                    continue
                name = _text(low, each.child_by_field_name("name"))
                alias = _text(low, each.child_by_field_name("alias")) or name
                only = types or _type_only(each)
                into.append(Import(alias, module, name, type_only=only, line=line_of(each)))


def exported(low: Lowerer, node: Node) -> None:
    """Lower every form of ``export``."""
    declaration = node.child_by_field_name("declaration")
    default = any(child.type == "default" for child in node.children)
    low.start = node.start_byte
    if low.scope is not low.file:
        if declaration is not None:
            _declared(low, node, declaration, default=False)
        return
    low.module = True
    if declaration is not None:
        _declared(low, node, declaration, default=default)
        return
    value = node.child_by_field_name("value")
    if value is not None:
        _default(low, node, value)
        return
    if any(child.type == "=" for child in node.children):
        _equals(low, node)
        return
    _clauses(low, node)


def _equals(low: Lowerer, node: Node) -> None:
    """Lower ``export = x``."""
    from plugins.codegraph.languages.typescript import commonjs

    value = child_at(node)
    if value is None:
        return
    if value.type == "identifier":
        low.exported.add(low.text(value))
    low.exported.add(commonjs.WHOLE)
    low.bind(Name(commonjs.WHOLE), low.expr(value), line_of(node))


def _clauses(low: Lowerer, node: Node) -> None:
    module = _text(low, node.child_by_field_name("source"))
    types = _type_only(node)
    into, line = low.file.imports, line_of(node)
    clause = next((c for c in node.named_children if c.type == "export_clause"), None)
    space = next((c for c in node.named_children if c.type == "namespace_export"), None)
    if space is not None:
        name = _text(low, child_at(space))
        into.append(Import("", module, "", exported=name, type_only=types, line=line))
    elif clause is None and module:
        into.append(Import("", module, "*", exported="*", type_only=types, line=line))
    for each in clause.named_children if clause is not None else []:
        if each.type != "export_specifier":
            continue
        name = _text(low, each.child_by_field_name("name"))
        shown = _text(low, each.child_by_field_name("alias")) or name
        if not module:
            low.export(shown, name, line_of(each))
        else:
            into.append(
                Import("", module, name, exported=shown, type_only=types, line=line_of(each))
            )


def _declared(low: Lowerer, node: Node, declaration: Node, *, default: bool) -> None:
    """Lower ``export const x = ...``, ``export class ...``, ``export default class X ...``."""
    named = declaration.child_by_field_name("name")
    names = [low.text(named)] if named is not None else []
    for child in declaration.named_children:
        if child.type == "variable_declarator":
            names += [name for name, _ in names_of(low, child.child_by_field_name("name"))]
        elif child.type in ("function_signature", "lexical_declaration", "class_declaration"):
            inner = child.child_by_field_name("name")
            names += [low.text(inner)] if inner is not None else []
    if low.scope is low.file:
        low.exported.update(names)
        if default and names:
            low.export("default", names[0], line_of(node))
    if declaration.type in CLASSES:
        given = [child for child in node.named_children if child.type == "decorator"]
        classes.lower(low, declaration, "" if named else "default", decorators=given)
        return
    handler = STATEMENTS.get(declaration.type)
    if handler is not None:
        handler(low, declaration)
    else:
        low.effect(declaration)


def _default(low: Lowerer, node: Node, value: Node) -> None:
    """Lower ``export default <expression>``."""
    while value.type in ("parenthesized_expression", "as_expression", "satisfies_expression"):
        low.expected = types.lower(low, child_at(value, 1))
        value = child_at(value) or value
    line = line_of(node)
    low.exported.add("default")
    own = value.child_by_field_name("name") if value.type in FUNCTIONS | CLASSES else None
    name = low.text(own) if own is not None else "default"
    if value.type in FUNCTIONS:
        low.exported.add(name)
        definition = functions.define(low, value, EntityKind.FUNCTION, name)
        functions.lower(low, value, definition, name)
        if name != "default":
            low.export("default", name, line)
    elif value.type in CLASSES:
        low.exported.add(name)
        classes.lower(low, value, "default" if own is None else "")
        if name != "default":
            low.export("default", name, line)
    elif value.type == "identifier":
        low.export("default", low.text(value), line)
    elif value.type == "object":
        low.bind(Name("default"), objects.lower(low, value, "default"), line)
    else:
        low.bind(Name("default"), low.expr(value), line)
    low.expected = None


STATEMENTS.update({"import_statement": imported, "export_statement": exported})

__all__ = ["Inner", "exported", "imported"]
