"""Lowers Rust's blocks, branches and loops, which are expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import Element, Expr, Item, OneOf
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import one_of
from plugins.codegraph.languages.rust.expressions import BOOL, LITERALS, Expressions
from plugins.codegraph.languages.rust.patterns import tuple_parts

if TYPE_CHECKING:
    from tree_sitter import Node


class ControlFlow(Expressions):
    """Lowers blocks and control flow."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower |= {
            "block": self.block,
            "unsafe_block": self._within,
            "async_block": self._within,
            "const_block": self._within,
            "if_expression": self._if,
            "match_expression": self._match,
            "for_expression": self._for,
            "while_expression": self._while,
            "loop_expression": self._loop,
            "let_condition": self._let_condition,
            "return_expression": self._return,
        }

    def item(self, node: Node) -> None:
        """Lower an item inside a body."""
        raise NotImplementedError

    def block(self, node: Node) -> Expr | None:
        """Lower statements; returns the value of a last expression without a semicolon."""
        with self.locals:
            value: Expr | None = None
            children = [c for c in node.named_children if "comment" not in c.type]
            last = len(children) - 1
            for at, child in enumerate(children):
                if child.type == "let_declaration":
                    self._let(child)
                elif child.type == "expression_statement":
                    inner = child.named_children[0] if child.named_child_count else None
                    if at == last and inner is not None and child.children[-1].type != ";":
                        value = self.expr(inner)
                    else:
                        self.evaluate(inner)
                elif child.type in self._lower or child.type == "parenthesized_expression":
                    value = self.expr(child)
                elif child.type in LITERALS:
                    value = LITERALS[child.type]
                else:
                    self.item(child)
        return value

    def _within(self, node: Node) -> Expr | None:
        inner = [child for child in node.named_children if child.type == "block"]
        return self.block(inner[0]) if inner else None

    def _let(self, node: Node) -> None:
        of = self.type(node.child_by_field_name("type"))
        value = self.expr(node.child_by_field_name("value"))
        alternative = node.child_by_field_name("alternative")
        if alternative is not None:
            self.evaluate(alternative)
        pattern = node.child_by_field_name("pattern")
        if pattern is not None and pattern.type not in ("_", "identifier"):
            value = self.held(value)
        elif pattern is None or pattern.type == "_":
            if value is not None:
                self.scope.calls.append(value)
            return
        self.bind(pattern, value, of)

    def _if(self, node: Node) -> Expr | None:
        with self.locals:
            self.evaluate(node.child_by_field_name("condition"))
            choices = [self.expr(node.child_by_field_name("consequence"))]
        alternative = node.child_by_field_name("alternative")
        if alternative is not None and alternative.named_child_count:
            choices.append(self.expr(alternative.named_children[0]))
        return one_of(choices)

    def _match(self, node: Node) -> Expr | None:
        value = self.held(self.expr(node.child_by_field_name("value")))
        choices: list[Expr | None] = []
        for arm in children(node, "body"):
            if arm.type != "match_arm":
                continue
            with self.locals:
                pattern = arm.child_by_field_name("pattern")
                if pattern is not None:
                    self.bind(pattern, value)
                    self.evaluate(pattern.child_by_field_name("condition"))
                choices.append(self.expr(arm.child_by_field_name("value")))
        return one_of(choices)

    def _for(self, node: Node) -> Expr | None:
        value = self.held(self.expr(node.child_by_field_name("value")))
        with self.locals:
            self._each(node.child_by_field_name("pattern"), value)
            self.evaluate(node.child_by_field_name("body"))
        return None

    def _each(self, pattern: Node | None, value: Expr | None) -> None:
        """Bind a loop's pattern; a tuple pattern may iterate over a list of pairs or a map."""
        parts = tuple_parts(pattern) if pattern is not None else []
        if value is None or len(parts) != 2:
            self.bind(pattern, Element(value) if value is not None else None)
            return
        for at, part in enumerate(parts):
            self.bind(part, OneOf((Item(Element(value), str(at)), Element(value, at))))

    def _while(self, node: Node) -> Expr | None:
        with self.locals:
            self.evaluate(node.child_by_field_name("condition"))
            self.evaluate(node.child_by_field_name("body"))
        return None

    def _loop(self, node: Node) -> Expr | None:
        self.evaluate(node.child_by_field_name("body"))
        return None

    def _let_condition(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("value"))
        self.bind(node.child_by_field_name("pattern"), self.held(value))
        return BOOL

    def _return(self, node: Node) -> Expr | None:
        if node.named_child_count:
            self.give(self.expr(node.named_children[0]))
        return None
