"""Lowers Go's types to expressions.

A pointer is lowered to what it points to. ``[]T`` and arrays are ``Item([], T)``, maps
``Item(map, K, V)``, channels ``Item(chan, T)``, functions ``Item(func, R)``: none of these words
can be an identifier in Go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import PLAIN, Attr, Expr, Group, Item, Name, Param
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import StatementBuilder

if TYPE_CHECKING:
    from tree_sitter import Node

_LISTS = {"slice_type": "element", "array_type": "element", "implicit_length_array_type": "element"}
_OPEN = (Name("any"), Name("comparable"))
_WITHIN = frozenset({"pointer_type", "parenthesized_type", "type_elem", "type_constraint"})


class Types(StatementBuilder):
    """Lowers Go's types."""

    language = "go"

    def inner_type(self, node: Node | None) -> Node | None:
        """The type within a pointer or parentheses."""
        while node is not None and node.type in _WITHIN:
            node = node.named_children[0] if node.named_child_count == 1 else None
        return node

    def _type(self, node: Node, kind: str) -> Expr | None:
        if kind in ("type_identifier", "identifier"):
            return self.named_value(node)
        if kind == "qualified_type":
            return self._qualified(node)
        if kind in _LISTS:
            self.used(node.child_by_field_name("length"), PLAIN)
            return Item(Name("[]"), None, (self.type(node.child_by_field_name("element")),))
        if kind == "map_type":
            key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            return Item(Name("map"), None, (self.type_argument(key), self.type(value)))
        if kind == "channel_type":
            return Item(Name("chan"), None, (self.type(node.child_by_field_name("value")),))
        if kind == "generic_type":
            return self._generic(node)
        if kind == "function_type":
            self.params(node.child_by_field_name("parameters"))
            return Item(Name("func"), None, (self.result(node),))
        self.types_in(node)
        return None

    def _qualified(self, node: Node) -> Expr:
        package, name = node.named_children[0], node.named_children[-1]
        of = self.noted(Name(self.text(package)), package, PLAIN)
        return self.noted(Attr(of, self.text(name)), name)

    def _generic(self, node: Node) -> Expr | None:
        arguments = node.child_by_field_name("type_arguments")
        of = self.type(node.child_by_field_name("type"))
        if arguments is None:
            return of
        return Item(
            of, None, tuple(self.type_argument(child) for child in arguments.named_children)
        )

    def result(self, node: Node) -> Expr | None:
        """The declared result of a function: a type, or a tuple of several."""
        result = node.child_by_field_name("result")
        if result is None:
            return None
        if result.type != "parameter_list":
            return self.type(result)
        types = tuple(param.type for param in self.params(result))
        return types[0] if len(types) == 1 else Group("t", types)

    def params(self, node: Node | None) -> list[Param]:
        """The parameters of a list, one per name."""
        found: list[Param] = []
        for child in children(node):
            if child.type not in ("parameter_declaration", "variadic_parameter_declaration"):
                continue
            of = self.type(child.child_by_field_name("type"))
            kind = "*" if child.type.startswith("variadic") else ""
            named = [n for n in child.children_by_field_name("name") if n.is_named]
            names = [self.noted_local(name) for name in named] or [""]
            found += [Param(name, of, None, kind) for name in names]
        return found

    def typevars(self, node: Node) -> None:
        """Add a declaration's type parameters to the scope, with their bounds."""
        for child in children(node, "type_parameters"):
            bound = self.type(child.child_by_field_name("type"))
            for name in child.children_by_field_name("name"):
                self.typevar(self.noted_local(name), None if bound in _OPEN else bound)
