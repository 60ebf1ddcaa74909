"""Lowers Java's types to expressions.

Arrays are ``Item([], T)``. A field is a member with a dot before its name (``.size``), and a
constructor is ``<init>``, so that fields, methods and classes of the same name stay apart, as
they do in Java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import BASE, Attr, Expr, Item, Name
from plugins.codegraph.languages.builder import Locals, children
from plugins.codegraph.languages.expressions import StatementBuilder, last_name, one_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PRIMITIVE = {
    "integral_type": "int",
    "floating_point_type": "double",
    "boolean_type": "boolean",
}
_OPEN = frozenset({"Comparable", "Object", "Enum", "Number", "Serializable", "CharSequence"})
"""Bounds too general to say where a call goes."""


class Types(StatementBuilder):
    """Lowers Java's types."""

    language = "java"

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self.locals = Locals(always=True)

    def _type(self, node: Node, kind: str) -> Expr | None:
        if kind in ("type_identifier", "identifier"):
            name = self.text(node)
            return None if name == "var" else self.noted(Name(name), node)
        if kind == "generic_type":
            return self._generic(node)
        if kind in ("scoped_type_identifier", "scoped_identifier"):
            return self._scoped(node)
        if kind == "array_type":
            return self.array(self.type(node.child_by_field_name("element")), node)
        if kind in ("wildcard", "annotated_type"):
            inner = [child for child in node.named_children if "annotation" not in child.type]
            return self.type(inner[-1]) if inner and inner[-1].type != "super" else None
        if kind == "catch_type":
            return one_of([self.type(child) for child in node.named_children])
        return Name(_PRIMITIVE[kind]) if kind in _PRIMITIVE else None

    def array(self, of: Expr | None, node: Node) -> Expr | None:
        """A type with the array dimensions that a node adds."""
        for _ in range(min(self.text_of(node, "dimensions").count("["), 8)):
            of = Item(Name("[]"), None, (of,))
        return of

    def _generic(self, node: Node) -> Expr | None:
        of = self.type(node.named_children[0])
        arguments = node.named_children[-1]
        if arguments.type != "type_arguments" or not arguments.named_child_count:
            return of
        return Item(
            of, None, tuple(self.type_argument(child) for child in arguments.named_children)
        )

    def _scoped(self, node: Node) -> Expr | None:
        parts = [child for child in node.named_children if "annotation" not in child.type]
        if len(parts) < 2:
            return None
        package = self.text(parts[0])
        if package.islower() and "." in package:
            return self.noted(Attr(Name(package), self.text(parts[-1])), parts[-1])
        return self.noted(Attr(self.type_argument(parts[0]), self.text(parts[-1])), parts[-1])

    def typevars(self, node: Node) -> None:
        """Add a declaration's type parameters to the scope, with their bounds."""
        for child in children(node, "type_parameters"):
            names = [part for part in child.named_children if "identifier" in part.type]
            bounds = [part for part in child.named_children if part.type == "type_bound"]
            if not names:
                continue
            choices = [self.type(b) for b in bounds[0].named_children] if bounds else []
            bound = one_of([each for each in choices if last_name(each) not in _OPEN])
            self.typevar(self.noted_local(names[0]), bound)

    def listed(self, node: Node | None, how: str = BASE) -> list[Expr | None]:
        """The types of an ``extends``, ``implements`` or ``permits`` clause, and their use."""
        found: list[Expr | None] = []
        for child in children(node):
            if child.type == "type_list":
                found += self.listed(child, how)
            elif child.type != "comment":
                found.append(self.typed(child, how))
        return found
