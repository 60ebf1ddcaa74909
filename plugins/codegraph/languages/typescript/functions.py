"""Lowers functions of every form: parameters, modifiers, results, bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Expr, Item, Name, Param, ParameterOf
from plugins.codegraph.languages.typescript import jsdoc, types
from plugins.codegraph.languages.typescript.builder import DefinitionBuilder, ScopeBuilder
from plugins.codegraph.languages.typescript.lowerer import (
    Lowerer,
    child_at,
    last_line,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import declared, names_of, target
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = {
    "async": "async",
    "static": "static",
    "abstract": "abstract",
    "get": "property",
    "set": "setter",
    "*": "generator",
}


def define(
    low: Lowerer, node: Node, kind: EntityKind, name: str, *, around: Node | None = None
) -> int:
    """Define something in the current scope; returns the definition's number.

    Args:
        low: the file being lowered.
        node: the node with the signature.
        kind: the kind of the definition.
        name: its own name.
        around: the node of its full text, if larger than ``node``.
    """
    whole = around or node
    return low.builder.define(
        DefinitionBuilder(
            kind=kind,
            name=name,
            qualified=low.scope.prefix + name,
            line=_first_line(whole),
            end_line=last_line(whole),
            start=_start(low, whole),
            end=whole.end_byte,
            signature=signature(low, node),
            doc=jsdoc.cleaned(low.doc),
            parent=low.scope.owner,
        )
    )


def _first_line(node: Node) -> int:
    """The first line after the decorators, which are part of the node."""
    if node.type not in _DECORATED:
        return line_of(node)
    for child in node.children:
        if child.type not in ("decorator", "comment"):
            return line_of(child)
    return line_of(node)


_DECORATED = frozenset(
    {
        "class_declaration",
        "abstract_class_declaration",
        "class",
        "public_field_definition",
        "method_definition",
        "export_statement",
    }
)


def _start(low: Lowerer, node: Node) -> int:
    """The byte offset where a definition begins, with its doc comment, decorators and
    ``export``."""
    start = node.start_byte
    if 0 <= low.start < start:
        start = low.start
    low.start = -1
    if low.doc:
        comment = low.source.rfind(b"/**", 0, start)
        start = comment if comment >= 0 else start
    return start


def signature(low: Lowerer, node: Node) -> str:
    """Parameters and result on one line, as written."""
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is None:
        return ""
    end = parameters
    result = node.child_by_field_name("return_type")
    end = result if result is not None else parameters
    generics = node.child_by_field_name("type_parameters")
    start = generics if generics is not None else parameters
    text = low.source[start.start_byte : end.end_byte].decode("utf-8", "replace")
    return " ".join(text.split())


def modifiers(node: Node) -> list[str]:
    """A function's or member's modifiers, in the words of ``facts.Scope``."""
    found: list[str] = []
    for child in node.children:
        kind = child.type
        if kind in _WORDS:
            found.append(_WORDS[kind])
        elif kind in ("formal_parameters", "statement_block"):
            break
    if node.type.startswith("generator_function") and "generator" not in found:
        found.append("generator")
    if node.type == "arrow_function":
        found.append("arrow")
    return found


@dataclass(frozen=True, slots=True)
class _Around:
    """The context of a function that its body depends on.

    Attributes:
        doc: its doc comment.
        own_this: whether it has a ``this`` of its own, other than its class's object.
        owner: that ``this``, if known.
        expected: the function's contextual type, if any.
    """

    doc: str
    own_this: bool
    owner: Expr | None
    expected: Expr | None


def lower(
    low: Lowerer, node: Node, definition: int = -1, name: str = "", owner: Expr | None = None
) -> ScopeBuilder:
    """Open the scope of a function; its body is lowered later.

    Args:
        low: the file being lowered.
        node: the function.
        definition: its definition, or -1.
        name: the name that it binds in the enclosing scope.
        owner: the value of its ``this``, if that is neither its class's object nor inherited.
    """
    scope = low.builder.scope("function", definition, low.scope)
    scope.name = name
    scope.modifiers = modifiers(node)
    method = (low.scope.kind == "class" and owner is None) or node.type == "arrow_function"
    around = _Around(low.doc, not method, owner, low.expected)
    low.doc, low.expected = "", None
    low.later(scope, lambda: _body(low, node, around))
    return scope


def type_parameters(low: Lowerer, node: Node) -> None:
    """Add the type parameters, with their constraints, to the current scope."""
    given = node.child_by_field_name("type_parameters")
    if given is None:
        return
    for child in given.named_children:
        named = child.child_by_field_name("name")
        if named is None:
            continue
        low.scope.modifiers.append(f"typevar:{low.noted_local(named)}")
        limit = child.child_by_field_name("constraint")
        if limit is not None:
            stated = types.lower(low, limit)
            if stated is not None:
                low.bind(Name(f"{low.text(named)}:bound"), None, line_of(child), stated)


def _body(low: Lowerer, node: Node, around: _Around) -> None:
    body = node.child_by_field_name("body")
    inside = body.named_children if body is not None and body.type == "statement_block" else None
    given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    _unshadow(low, given, inside)
    if around.own_this:
        _own_this(low, node, around.owner)
    elif node.type != "arrow_function" or low.builder.scopes[low.scope.parent].kind == "class":
        members_this(low)
    own = node.child_by_field_name("name")
    if low.scope.definition < 0 and own is not None and node.type.endswith("expression"):
        low.scope.name = low.text(own)
    type_parameters(low, node)
    parameters(low, given, around.expected)
    returned = node.child_by_field_name("return_type")
    if returned is not None:
        low.scope.returns = types.annotated(low, returned)
    if around.doc:
        jsdoc.apply(low, around.doc)
    if inside is not None and body is not None:
        low.statements(body.children)
    elif body is not None:
        low.scope.results.append(low.expr(body))


def members_this(low: Lowerer) -> None:
    """In a class's body and methods, ``this`` is the class's own again."""
    if "this" in low.env:
        low.env = {name: new for name, new in low.env.items() if name != "this"}


def _own_this(low: Lowerer, node: Node, owner: Expr | None) -> None:
    """A function that is neither a method nor an arrow function has its own ``this``."""
    new = low.fresh("this")
    low.env = {**low.env, "this": new}
    if owner is not None:
        low.bind(Name(new), owner, line_of(node))


def _unshadow(low: Lowerer, given: Node | None, inside: list[Node] | None) -> None:
    """Names that the function binds itself no longer refer to those of enclosing blocks."""
    if not low.env:
        return
    own = declared(low, inside) if inside else set()
    if given is not None:
        for child in [given, *given.named_children]:
            pattern = child.child_by_field_name("pattern") or child
            own.update(name for name, _ in names_of(low, pattern))
    if own & low.env.keys():
        low.env = {name: new for name, new in low.env.items() if name not in own}


def parameters(low: Lowerer, given: Node | None, expected: Expr | None = None) -> None:
    """Lower the parameters into the current scope; ``expected`` is the function's contextual
    type."""
    if given is None:
        return
    if given.type != "formal_parameters":
        stated = ParameterOf(expected, 0) if expected is not None else None
        low.scope.params.append(Param(low.noted_local(given), stated))
        return
    for number, child in enumerate(n for n in given.named_children if n.type != "comment"):
        _parameter(low, child, number, expected)


def _parameter(low: Lowerer, node: Node, number: int, expected: Expr | None) -> None:
    pattern, default, stated = _parts(low, node)
    kind = ""
    if pattern.type == "rest_pattern":
        kind, pattern = "*", child_at(pattern) or pattern
        stated = _of_array(stated)
    elif stated is None and expected is not None:
        stated = ParameterOf(expected, number)
    if pattern.type == "this":
        if stated is not None:
            low.bind(low.named("this"), None, line_of(node), stated)
        return
    if pattern.type == "identifier":
        low.scope.params.append(Param(low.noted_local(pattern), stated, default, kind))
        if low.javascript and stated is None:
            low.written.declare(low.scope, low.text(pattern))
        return
    name = f"{{{number}}}"
    low.scope.params.append(Param(name, stated, default, kind))
    to = target(low, pattern)
    if to is not None:
        low.bind(to, Name(name), line_of(node))


def _parts(low: Lowerer, node: Node) -> tuple[Node, Expr | None, Expr | None]:
    """A parameter's pattern, its default and its type."""
    if node.type in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern") or node
        default = _default(low, pattern, node.child_by_field_name("value"))
        return pattern, default, types.annotated(low, node.child_by_field_name("type"))
    if node.type == "assignment_pattern":
        pattern = node.child_by_field_name("left") or node
        return pattern, _default(low, pattern, node.child_by_field_name("right")), None
    return node, None, None


def _default(low: Lowerer, pattern: Node, value: Node | None) -> Expr | None:
    """Lower a default value; one with calls runs within the function, so it is bound there."""
    before = low.calls
    default = low.expr(value)
    if low.calls == before:
        return default
    if pattern.type == "identifier":
        low.bind(low.named(low.text(pattern)), default, line_of(pattern))
    else:
        low.keep(default, before)
    return None


def _of_array(stated: Expr | None) -> Expr | None:
    """The element type of a rest parameter that is declared as an array."""
    if isinstance(stated, Item) and len(stated.args) == 1:
        return stated.args[0]
    return None
