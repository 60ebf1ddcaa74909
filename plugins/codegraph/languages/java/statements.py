"""Lowers Java's statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Attr, Bind, Call, Element, Expr, Name
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
        self._run = {
            "block": self.block,
            "for_statement": self.block,
            "while_statement": self.each,
            "local_variable_declaration": self._local,
            "return_statement": self._return,
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
        of = self.type(node.child_by_field_name("type"))
        for declarator in node.children_by_field_name("declarator"):
            name, value = self.declarator(declarator)
            stated = self.array(of, declarator)
            target = Name(self.locals.declare(name))
            self.scope.binds.append(Bind(target, value, stated, declarator.start_point[0] + 1))

    def declarator(self, node: Node) -> tuple[str, Expr | None]:
        """The name of a variable, and its initial value."""
        return self.text_of(node, "name"), self.expr(node.child_by_field_name("value"))

    def _return(self, node: Node) -> None:
        self.give(self.expr(node.named_children[0]) if node.named_child_count else None)

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
                target = Name(self.locals.declare(self.text(name)))
                self.scope.binds.append(Bind(target, Element(value), of, node.start_point[0] + 1))
            if body is not None:
                self.run(body)

    def _resource(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            self.evaluate(node.named_children[0] if node.named_child_count else None)
            return
        of, given = self.type(node.child_by_field_name("type")), self.expr(value)
        target, line = Name(self.locals.declare(self.text(name))), node.start_point[0] + 1
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
                        self.pattern_name(name, self.type(types[0]))
                else:
                    self.run(child)

    def switch(self, node: Node) -> Expr | None:
        """Lower a switch; its value is one of its branches' values."""
        self.evaluate(node.child_by_field_name("condition"))
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
