"""Lowers collection displays, comprehensions, strings, lambdas, and assignment targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    TARGET,
    Attr,
    Bind,
    Element,
    Expr,
    Group,
    Inner,
    Literal,
    Many,
    Name,
    Table,
)
from plugins.codegraph.languages.python.conditions import Conditions
from plugins.codegraph.languages.python.parameters import parameters
from plugins.codegraph.languages.python.reader import real

if TYPE_CHECKING:
    from tree_sitter import Node


class Displays(Conditions):
    """Lowers expressions that create new values."""

    declared: set[tuple[int, str]]
    """The variables already defined, as (enclosing definition, name)."""

    def _lambda(self, node: Node) -> Expr | None:
        self.counted += 1
        given = parameters(self, node.child_by_field_name("parameters"))
        with self.within("function"):
            outer = self.flow
            self.flow = outer.inner(False)
            self.scope.params += given
            self.flow.own(each.name for each in given)
            number = self.at
            self.scope.results.append(self.expr(node.child_by_field_name("body")))
            self.flow = outer
        return Inner(number)

    def _comprehension(self, node: Node) -> Expr | None:
        self.counted += 1
        with self.flow.comprehension():
            return self._comprehended(node)

    def _comprehended(self, node: Node) -> Expr:
        body: Node | None = None
        for each in node.named_children:
            if each.type == "for_in_clause":
                self._clause(each)
            elif each.type == "if_clause":
                self.run(each.named_children[0])
                self.narrow(each.named_children[0], True)
            elif body is None and each.type != "comment":
                body = each
        if body is not None and body.type == "pair":
            self.run(body.child_by_field_name("key"))
            return Table(((None, self.expr(body.child_by_field_name("value"))),))
        return Group("c", (self.expr(body),))

    def _clause(self, node: Node) -> None:
        right = self.expr(node.child_by_field_name("right"))
        left = node.child_by_field_name("left")
        for name in names_in(self, left):
            self.flow.renew(name)
        target = self.target(left, fresh=False)
        if target is not None:
            self.scope.binds.append(Bind(target, Element(right), None, node.start_point[0] + 1))

    def target(self, node: Node | None, fresh: bool = True) -> Expr | None:
        """Lower an assignment target.

        Args:
            node: the target.
            fresh: whether this assigns new values to its names.
        """
        if node is None:
            return None
        kind = node.type
        if kind == "identifier":
            return self._named_target(node, fresh)
        if kind in ("tuple_pattern", "list_pattern", "pattern_list", "tuple", "list"):
            return Group("t", tuple(self.target(each, fresh) for each in real(node)))
        if kind == "attribute":
            return self._member_target(node)
        if kind == "subscript":
            return self.expr(node)
        if kind in ("as_pattern_target", "parenthesized_expression") and node.named_children:
            return self.target(node.named_children[0], fresh)
        return None

    def _named_target(self, node: Node, fresh: bool) -> Expr:
        name = self.text(node)
        found = Name(self.flow.assign(name) if fresh else self.flow.names.get(name, name))
        if self.flow.is_local(name):
            self.noted_local(node)
        elif self.scope.kind == "function" or (self.owner, name) in self.declared:
            self._written(found, node)
        return found

    def _member_target(self, node: Node) -> Expr:
        of, member = node.named_children[0], node.named_children[-1]
        found = Attr(self.expr(of), self.text(member))
        if not self.is_field(of) or (self._around(), found.name) in self.declared:
            self._written(found, member)
        return found

    def _written(self, of: Expr, name: Node) -> None:
        self.noted(of, name, TARGET)

    def is_field(self, of: Node) -> bool:
        """Whether a member of this is a field of the class around, in a method."""
        if of.type != "identifier" or not self.scope.params or self.scope.kind != "function":
            return False
        in_class = self.scopes[self.scope.parent].kind == "class"
        return in_class and self.text(of) == self.scope.params[0].name

    def _around(self) -> int:
        return self.scopes[self.scope.parent].definition

    def _walrus(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("value"))
        target = self.target(node.child_by_field_name("name"))
        if target is None:
            return value
        self.scope.binds.append(Bind(target, value, None, node.start_point[0] + 1))
        self.counted += 1
        return target

    def _list(self, node: Node) -> Expr | None:
        return Group("l" if node.type == "list" else "s", self._entries(node))

    def _tuple(self, node: Node) -> Expr | None:
        return Group("t", self._entries(node))

    def _entries(self, node: Node) -> tuple[Expr | None, ...]:
        found: list[Expr | None] = []
        for each in real(node):
            if each.type == "list_splat":
                found.append(Element(self.expr(each.named_children[0])))
            else:
                found.append(self.expr(each))
        return tuple(found)

    def _dictionary(self, node: Node) -> Expr | None:
        pairs: list[tuple[str | None, Expr | None]] = []
        for each in real(node):
            if each.type == "pair":
                key = each.child_by_field_name("key")
                named = None if key is None else self.literal_text(key)
                if named is None:
                    self.run(key)
                pairs.append((named, self.expr(each.child_by_field_name("value"))))
            elif each.type == "dictionary_splat":
                pairs.append((None, Element(self.expr(each.named_children[0]), 1)))
        return Table(tuple(pairs))

    def _string(self, node: Node) -> Expr | None:
        parts = []
        for each in node.named_children:
            if each.type == "interpolation":
                parts += [self.expr(part) for part in each.named_children]
            elif each.type == "string":
                parts.append(self._string(each))
        parts = [each for each in parts if each is not None and type(each) is not Literal]
        return Many(tuple(parts), "str") if parts else Literal("str")

    def _format(self, node: Node) -> Expr | None:
        inner = [part for each in node.named_children for part in each.named_children]
        found = [self.expr(each) for each in inner]
        return Many(tuple(found)) if any(found) else None


def names_in(lowering: Conditions, node: Node | None) -> list[str]:
    """The names that a target binds."""
    if node is None:
        return []
    if node.type == "identifier":
        return [lowering.text(node)]
    if node.type in ("attribute", "subscript"):
        return []
    return [name for each in node.named_children for name in names_in(lowering, each)]
