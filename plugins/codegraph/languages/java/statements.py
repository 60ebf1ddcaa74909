"""Lowers Java's statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import RAISED, Attr, Bind, Call, Element, Expr, Name, OneOf
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import one_of
from plugins.codegraph.languages.java.expressions import Expressions

if TYPE_CHECKING:
    from tree_sitter import Node

CLASSES = frozenset(
    {
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    }
)


class Statements(Expressions):
    """Lowers Java's statements."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._yields: list[list[Expr | None]] = []
        self._switched: Expr | None = None
        self._run = {
            "block": self.block,
            "for_statement": self.block,
            "while_statement": self.each,
            "local_variable_declaration": self._local,
            "return_statement": self._return,
            "throw_statement": self._throw,
            "switch_label": self._label,
            "yield_statement": self._yield,
            "enhanced_for_statement": self._for,
            "try_with_resources_statement": self.block,
            "resource": self._resource,
            "catch_clause": self._catch,
            "switch_block_statement_group": self.each,
            "type_pattern": self.pattern,
            "record_pattern": self.pattern,
            **dict.fromkeys(CLASSES, self.declaration),
        }

    def declaration(self, node: Node) -> None:
        """Lower a class declared inside a body."""
        raise NotImplementedError

    def _local(self, node: Node) -> None:
        self.annotations(node)
        of = self.type(node.child_by_field_name("type"))
        for declarator in node.children_by_field_name("declarator"):
            name, value = self.declarator(declarator)
            written = declarator.child_by_field_name("name")
            if written is not None:
                self.noted_local(written)
            stated = self.array(of, declarator)
            target = Name(self.locals.declare(name))
            self.scope.binds.append(Bind(target, value, stated, declarator.start_point[0] + 1))

    def declarator(self, node: Node) -> tuple[str, Expr | None]:
        """The name of a variable, and its initial value."""
        return self.text_of(node, "name"), self.expr(node.child_by_field_name("value"))

    def _return(self, node: Node) -> None:
        self.give(self.expr(node.named_children[0]) if node.named_child_count else None)

    def _throw(self, node: Node) -> None:
        before = self.counted
        value = self.used(node.named_children[0] if node.named_child_count else None, RAISED)
        if self.counted > before and value is not None:
            self.scope.calls.append(value)

    def _yield(self, node: Node) -> None:
        value = self.expr(node.named_children[0]) if node.named_child_count else None
        if self._yields:
            self._yields[-1].append(value)

    def _for(self, node: Node) -> None:
        value = self.expr(node.child_by_field_name("value"))
        of = self.type(node.child_by_field_name("type"))
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        with self.locals:
            if name is not None:
                target = Name(self.local(name))
                self.scope.binds.append(Bind(target, Element(value), of, node.start_point[0] + 1))
            if body is not None:
                self.run(body)

    def _resource(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            self.evaluate(node.named_children[0] if node.named_child_count else None)
            return
        of, given = self.type(node.child_by_field_name("type")), self.expr(value)
        target, line = Name(self.local(name)), node.start_point[0] + 1
        self.scope.binds.append(Bind(target, given, of, line))
        self.counted += 1
        self.scope.calls.append(Call(Attr(target, "close"), (), line))

    def _catch(self, node: Node) -> None:
        with self.locals:
            for child in node.named_children:
                if child.type == "catch_formal_parameter":
                    name = child.child_by_field_name("name")
                    types = [part for part in child.named_children if part.type == "catch_type"]
                    if name is not None and types:
                        self.pattern_name(name, self._caught(types[0]))
                else:
                    self.run(child)

    def _caught(self, node: Node) -> Expr | None:
        """Lower the types of a catch clause."""
        return one_of([self.typed(child, RAISED) for child in node.named_children])

    def switch(self, node: Node) -> Expr | None:
        """Lower a switch; its value is one of its branches' values."""
        before = self.counted
        condition = self.expr(node.child_by_field_name("condition"))
        if self.counted > before and condition is not None:
            self.scope.calls.append(condition)
        outer, self._switched = self._switched, condition
        found = self._branches(node)
        self._switched = outer
        return found

    def _branches(self, node: Node) -> Expr | None:
        choices: list[Expr | None] = []
        self._yields.append(choices)
        with self.locals:
            for case in children(node, "body"):
                if case.type == "switch_rule":
                    with self.locals:
                        self._rule(case, choices)
                else:
                    self.run(case)
        self._yields.pop()
        return one_of(choices)

    def _rule(self, case: Node, choices: list[Expr | None]) -> None:
        for child in case.named_children:
            if child.type == "switch_label":
                self._label(child)
            elif child.type == "expression_statement":
                choices.append(self.expr(child.named_children[0]))
            else:
                self.run(child)

    def _label(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "pattern":
                for inner in child.named_children:
                    self.pattern(inner)
            elif child.type == "guard":
                self.each(child)
            elif child.type == "identifier" and not self.locals.is_local(self.text(child)):
                # A constant of the enumeration, or of the class around.
                name = self.text(child)
                self.noted(OneOf((Attr(self._switched, f".{name}"), self.unbound(name))), child)
            else:
                self.evaluate(child)
