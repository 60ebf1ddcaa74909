"""Lowers Rust's paths and types to expressions.

A reference is lowered to what it refers to; ``dyn T`` and ``impl T`` to ``T``. Slices and arrays
are ``Item([], T)``. A field is a member with a dot before its name (``.size``), so that a field
and a method of the same name are two members, as they are in Rust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import AS_TYPE, MADE, Attr, Expr, Group, Item, Name
from plugins.codegraph.languages.builder import Locals, children
from plugins.codegraph.languages.expressions import ExpressionBuilder, last_name, one_of
from plugins.codegraph.languages.rust.builtins import MARKERS

if TYPE_CHECKING:
    from tree_sitter import Node

SELF_MODULE = "self::"
"""The prefix in facts of paths from ``self::`` and, in inline modules, ``super::``."""
_INNER = {
    "reference_type": "type",
    "pointer_type": "type",
    "dynamic_type": "trait",
    "abstract_type": "trait",
    "parenthesized_type": "",
    "bracketed_type": "",
    "higher_ranked_trait_bound": "type",
    "qualified_type": "type",
}


class Types(ExpressionBuilder):
    """Lowers types.

    Attributes:
        modules: the enclosing inline modules, outermost first.
    """

    language = "rust"

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        # A path begins with a module or a type, even if a local has that name: ``ast::f(ast)``.
        self.locals = Locals(always=True)
        self.modules: list[str] = []

    def inner_type(self, node: Node | None) -> Node | None:
        """The type within a reference or parentheses."""
        while node is not None and node.type in _INNER:
            field = _INNER[node.type]
            inner = node.child_by_field_name(field) if field else None
            node = inner or (node.named_children[-1] if node.named_child_count else None)
        return node

    def _type(self, node: Node, kind: str) -> Expr | None:
        if kind == "primitive_type":
            return self.named(self.text(node))
        if kind in ("type_identifier", "identifier"):
            return self._noted_name(node)
        if kind == "generic_type":
            return self._generic(node)
        if kind in ("scoped_type_identifier", "scoped_identifier"):
            return self.path_of(node)
        if kind in ("array_type", "slice_type"):
            return Item(Name("[]"), None, (self.type(node.child_by_field_name("element")),))
        if kind == "tuple_type":
            return Group("t", tuple(self.type_argument(child) for child in node.named_children))
        return self._of_parts(node, kind)

    def _of_parts(self, node: Node, kind: str) -> Expr | None:
        if kind == "bounded_type":
            stated = [self.type(c) for c in node.named_children if c.type != "lifetime"]
            return next((each for each in stated if each is not None), None)
        return self._function_type(node) if kind == "function_type" else None

    def _noted_name(self, node: Node) -> Expr | None:
        found = self.named(self.text(node))
        return None if found is None else self.noted(found, node)

    def _function_type(self, node: Node) -> Expr:
        types = Group("t", tuple(self.type(child) for child in children(node, "parameters")))
        result = self.type(node.child_by_field_name("return_type"))
        return Item(Name("fn"), None, (types, result))

    def named(self, name: str) -> Expr | None:
        """Lower a bare name that is not a value."""
        return None if name == "_" else Name(name)

    def _generic(self, node: Node) -> Expr | None:
        of = self.type(node.child_by_field_name("type"))
        given: list[Expr | None] = []
        for child in children(node, "type_arguments"):
            if child.type == "type_binding":
                given.append(self.type_argument(child.child_by_field_name("type")))
            elif child.type != "lifetime":
                given.append(self.type_argument(child))
        return Item(of, None, tuple(given)) if given else of

    def path_of(self, node: Node) -> Expr | None:
        """Lower a path: ``a::b::c``, type arguments included."""
        if self.deeper(node):
            return None
        kind = node.type
        if kind == "identifier" or kind == "type_identifier":
            return self._noted_name(node)
        if kind in ("self", "crate", "super"):
            own = Name(SELF_MODULE if kind == "self" else kind)
            return self._up(1) if kind == "super" else own
        if kind not in ("scoped_identifier", "scoped_type_identifier"):
            return self.type(node)
        name = node.child_by_field_name("name")
        path = node.child_by_field_name("path")
        if name is None:
            return None
        if self.text(name) == "super":
            return self._up(self.text(node).count("super"))
        if path is None:
            return self.noted(Name(self.text(name)), name)
        self.depth += 1
        using = self.using
        self.using = MADE if using == MADE and self.text(name)[:1].isupper() else AS_TYPE
        of = self._up(0) if path.type == "self" else self.path_of(path)
        self.using = using
        self.depth -= 1
        return self.noted(Attr(of, self.text(name)), name)

    def _up(self, levels: int) -> Expr:
        inline = len(self.modules)
        if levels > inline:
            return Name("super::" * (levels - inline))
        found: Expr = Name(SELF_MODULE)
        for module in self.modules[: inline - levels]:
            found = Attr(found, module)
        return found

    def generics(self, node: Node) -> list[tuple[str, Expr | None]]:
        """The type parameters of an item, each with its trait bound, or None."""
        found: dict[str, Expr | None] = {}
        for child in children(node, "type_parameters"):
            name = child.child_by_field_name("name")
            if child.type == "type_parameter" and name is not None:
                found[self.noted_local(name)] = self._bound(child.child_by_field_name("bounds"))
        for clause in node.children:
            if clause.type == "where_clause":
                self._where(clause, found)
        return list(found.items())

    def _where(self, clause: Node, found: dict[str, Expr | None]) -> None:
        for predicate in clause.named_children:
            left = predicate.child_by_field_name("left")
            name = "" if left is None else self.text(left)
            if left is not None and name in found:
                self.noted_local(left)
            elif left is not None:
                self.type(left)
                self._bound(predicate.child_by_field_name("bounds"))
            if name in found and found[name] is None:
                found[name] = self._bound(predicate.child_by_field_name("bounds"))

    def _bound(self, bounds: Node | None) -> Expr | None:
        choices: list[Expr | None] = []
        for child in children(bounds):
            if child.type in ("lifetime", "removed_trait_bound"):
                continue
            bound = self.type(child)
            if bound is not None and last_name(bound) not in MARKERS:
                choices.append(bound)
        return one_of(choices)

    def generic_scope(self, generics: list[tuple[str, Expr | None]]) -> None:
        """Add type parameters to the scope, with their trait bounds."""
        for name, bound in generics:
            self.typevar(name, bound)
