"""Doc comments: their text, and in JavaScript the types that they declare."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Bind, Expr, Literal, Name, Param
from plugins.codegraph.languages.typescript import types
from plugins.codegraph.languages.typescript.grammar import parser
from plugins.codegraph.languages.typescript.lowerer import child_at

if TYPE_CHECKING:
    from plugins.codegraph.languages.typescript.lowerer import Lowerer

_TAG = re.compile(
    r"@(param|arg|argument|returns?|type|this|typedef|extends|augments)\s*"
    r"\{((?:[^{}\n]|\{[^{}\n]*\})*)\}[ \t]*(\[?[\w$]*)"
)
_PLAIN = re.compile(r"[?!]?([A-Za-z_$][\w$]*)=?")
_PRIMITIVES = {
    "string": "string",
    "number": "number",
    "boolean": "boolean",
    "String": "string",
    "Number": "number",
    "Boolean": "boolean",
    "bigint": "bigint",
    "symbol": "symbol",
}
_NOTHING = frozenset({"any", "*", "void", "undefined", "null", "Object", "object", "Function"})


def cleaned(comment: str) -> str:
    """The text of a doc comment without its asterisks."""
    if not comment:
        return ""
    inside = comment.removeprefix("/**").removesuffix("*/")
    lines = (
        line.strip().removeprefix("*").removeprefix(" ").rstrip() for line in inside.split("\n")
    )
    return "\n".join(lines).strip()


def stated_type(low: Lowerer, comment: str) -> Expr | None:
    """The type in ``@type {T}``, or None."""
    if "@type" not in comment:
        return None
    for tag, text, _ in _TAG.findall(comment):
        if tag == "type":
            return parsed(low, text)
    return None


def apply(low: Lowerer, comment: str) -> None:
    """Add the types that a doc comment declares to the current function, where it has none
    itself."""
    if not low.javascript or "{" not in comment:
        return
    scope = low.scope
    for tag, text, name in _TAG.findall(comment):
        if tag in ("param", "arg", "argument"):
            name = name.lstrip("[")
            for number, param in enumerate(scope.params):
                if param.name == name and param.type is None:
                    stated = parsed(low, text)
                    scope.params[number] = Param(name, stated, param.default, param.kind)
        elif tag in ("return", "returns") and scope.returns is None:
            scope.returns = parsed(low, text)
        elif tag == "this":
            low.bind(low.named("this"), None, 0, parsed(low, text))


def typedefs(low: Lowerer, comment: str, line: int) -> None:
    """Bind the names declared by ``@typedef {T} Name`` to their types."""
    for tag, text, name in _TAG.findall(comment):
        if tag == "typedef" and name:
            stated = parsed(low, text)
            if stated is not None:
                low.file.binds.append(Bind(Name(name), None, stated, line))


def parsed(low: Lowerer, text: str) -> Expr | None:
    """Lower a type in JSDoc syntax."""
    text = text.strip().removeprefix("...").removesuffix("=").strip()
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        name = plain.group(1)
        if name in _NOTHING:
            return None
        return Literal(_PRIMITIVES[name]) if name in _PRIMITIVES else Name(name)
    text = text.lstrip("?!").replace(".<", "<")
    if not text or text == "*":
        return None
    return _lowered(low, f"type _ = {text};".encode())


def _lowered(low: Lowerer, source: bytes) -> Expr | None:
    root = parser("ts").parse(source).root_node
    if root.has_error:
        return None
    statement = child_at(root)
    value = statement.child_by_field_name("value") if statement is not None else None
    outer, low.source = low.source, source
    low.quiet = True
    try:
        return types.lower(low, value)
    finally:
        low.source, low.quiet = outer, False
