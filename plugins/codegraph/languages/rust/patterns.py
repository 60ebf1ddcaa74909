"""Lowers Rust's patterns: the names they bind, and to what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    KEYWORD,
    PLAIN,
    Attr,
    Bind,
    Element,
    Expr,
    Item,
    Name,
    Typed,
    Unwrapped,
)
from plugins.codegraph.languages.expressions import last_name
from plugins.codegraph.languages.rust.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node

_WRAPPERS = frozenset({"Some", "Ok", "Box"})
_THROUGH = frozenset({"ref_pattern", "mut_pattern", "reference_pattern", "match_pattern"})


class Patterns(Types):
    """Lowers patterns."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._patterns: dict[str, Callable[[Node, Expr | None], None]] = {
            "identifier": self._name,
            "shorthand_field_identifier": self._name,
            "tuple_pattern": self._tuple,
            "slice_pattern": self._slice,
            "tuple_struct_pattern": self._tuple_struct,
            "struct_pattern": self._struct,
            "captured_pattern": self._captured,
            "or_pattern": self._or,
            "scoped_identifier": self._compared,
        }

    def bind(self, node: Node | None, value: Expr | None, of: Expr | None = None) -> None:
        """Bind the names of a pattern to a value; ``of`` is its declared type, if any."""
        while node is not None and node.type in _THROUGH:
            inner = [child for child in node.named_children if child.type != "mutable_specifier"]
            node = inner[0] if inner else None
        if node is None or self.deeper(node):
            return
        if of is not None:
            if node.type == "identifier":
                self._typed_name(node, value, of)
                return
            value = Typed(of, value)
        self.depth += 1
        bind = self._patterns.get(node.type)
        if bind is not None:
            bind(node, value)
        self.depth -= 1

    def _typed_name(self, node: Node, value: Expr | None, of: Expr) -> None:
        name = Name(self.local(node))
        self.scope.binds.append(Bind(name, value, of, node.start_point[0] + self.row))

    def _name(self, node: Node, value: Expr | None) -> None:
        text = self.text(node)
        # ``None`` and constants are compared, not bound.
        if text[:1].isupper():
            self.noted(Name(text), node, PLAIN)
            return
        name = Name(self.local(node))
        self.scope.binds.append(Bind(name, value, None, node.start_point[0] + self.row))

    def _compared(self, node: Node, value: Expr | None) -> None:
        """Note a constant or variant that a value is compared with."""
        using, self.using = self.using, PLAIN
        self.path_of(node)
        self.using = using

    def _tuple(self, node: Node, value: Expr | None) -> None:
        value = self.held(value)
        for at, child in enumerate(_parts(node)):
            self.bind(child, Item(value, str(at)) if value is not None else None)

    def _slice(self, node: Node, value: Expr | None) -> None:
        value = self.held(value)
        for child in _parts(node):
            self.bind(child, Element(value) if value is not None else None)

    def _tuple_struct(self, node: Node, value: Expr | None) -> None:
        of = node.child_by_field_name("type")
        path = self._type_of(of)
        parts = [child for child in _parts(node) if child != of]
        name = last_name(path)
        if name in _WRAPPERS and len(parts) == 1:
            self.bind(parts[0], Unwrapped(value, "try") if value is not None else None)
            return
        self.held(value)
        for at, child in enumerate(parts):
            self.bind(child, Attr(Typed(path), f".{at}") if name != "Err" else None)

    def _struct(self, node: Node, value: Expr | None) -> None:
        of = node.child_by_field_name("type")
        path = self._type_of(of)
        self.held(value)
        for field in node.named_children:
            name = field.child_by_field_name("name")
            if field.type != "field_pattern" or name is None:
                continue
            self.noted(Attr(path, f".{self.text(name)}"), name, KEYWORD)
            pattern = field.child_by_field_name("pattern") or name
            self.bind(pattern, Attr(Typed(path), f".{self.text(name)}"))

    def _type_of(self, node: Node | None) -> Expr | None:
        """Lower the type or variant that a pattern takes apart."""
        using, self.using = self.using, AS_TYPE
        found = self.path_of(node) if node is not None else None
        self.using = using
        return found

    def _captured(self, node: Node, value: Expr | None) -> None:
        value = self.held(value)
        for child in node.named_children:
            self.bind(child, value)

    def _or(self, node: Node, value: Expr | None) -> None:
        # Every alternative binds the same names.
        first, *others = node.named_children
        self.bind(first, value)
        for each in others:
            self._again(each)

    def _again(self, node: Node) -> None:
        """Note the names of a pattern whose bindings are known."""
        kind = node.type
        if kind in ("scoped_identifier", "type_identifier"):
            self._compared(node, None)
        elif kind == "identifier" and self.locals.is_local(self.text(node)):
            self.noted_local(node)
        elif kind == "identifier":
            self.noted(Name(self.text(node)), node, PLAIN)
        elif not self.deeper(node):
            self.depth += 1
            for child in node.named_children:
                self._again(child)
            self.depth -= 1


def tuple_parts(node: Node) -> list[Node]:
    """The parts of a tuple pattern; empty for any other."""
    return _parts(node) if node.type == "tuple_pattern" else []


def _parts(node: Node) -> list[Node]:
    """The parts of a tuple pattern, with ``_``, since positions count."""
    return [child for child in node.children if child.is_named or child.type == "_"]
