"""Lowers Go's statements."""

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
    Item,
    Name,
    Param,
    Typed,
)
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.go.expressions import Expressions

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMA_OK = frozenset({"index_expression", "type_assertion_expression", "unary_expression"})


class Statements(Expressions):
    """Lowers Go's statements."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._run = {
            "statement_list": self.each,
            "block": self.block,
            "for_statement": self.block,
            "if_statement": self.block,
            "expression_switch_statement": self.block,
            "expression_case": self.block,
            "default_case": self.block,
            "communication_case": self.block,
            "func_literal": self.evaluate,
            "call_expression": self.evaluate,
            "return_statement": self._return,
            "short_var_declaration": self._short,
            "assignment_statement": self._assign,
            "receive_statement": self._received,
            "range_clause": self._range,
            "var_spec": self._var,
            "const_spec": self._var,
            "type_declaration": self.types,
            "type_switch_statement": self._type_switch,
        }

    def types(self, node: Node) -> None:
        """Lower a type declaration."""
        raise NotImplementedError

    def function(self, node: Node) -> Expr | None:
        """Lower a function literal."""
        self.counted += 1
        with self.within("function") as at, self.locals:
            self.scope.params += self.declared(node)
            self.scope.returns = self.result(node)
            body = node.child_by_field_name("body")
            if body is not None:
                self.run(body)
        return Inner(at)

    def declared(self, node: Node) -> list[Param]:
        """Declare a function's parameters as locals."""
        params = self.params(node.child_by_field_name("parameters"))
        result = node.child_by_field_name("result")
        if result is not None and result.type == "parameter_list":
            for param in self.params(result):
                if param.name:
                    given = self.locals.declare(param.name)
                    self.scope.binds.append(Bind(Name(given), None, param.type))
        return [Param(self._own(p.name), p.type, p.default, p.kind) for p in params]

    def _own(self, name: str) -> str:
        return self.locals.declare(name) if name and name != "_" else name

    def _return(self, node: Node) -> None:
        if node.named_child_count:
            values = self.exprs(node.named_children[0])
            self.scope.results.append(values[0] if len(values) == 1 else Group("t", tuple(values)))

    def _short(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        values = self.exprs(right)
        targets = [self._new(child) for child in children(node, "left")]
        self._bound(targets, values, right, node)

    def _new(self, node: Node) -> Expr | None:
        name = self.text(node)
        if self.scope.kind == "function":
            self.noted_local(node)
        return None if name == "_" else Name(self.locals.declare(name))

    def _assign(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        values = self.exprs(right)
        targets = [self._target(child) for child in children(node, "left")]
        self._bound(targets, values, right, node)

    def _targets(self, node: Node) -> list[Expr | None]:
        target = self._new if any(child.type == ":=" for child in node.children) else self._target
        return [target(child) for child in children(node, "left")]

    def _target(self, node: Node) -> Expr | None:
        before = self.counted
        found = self.used(node, TARGET)
        if isinstance(found, Name | Attr | Item) and found != Name("_"):
            return found
        if self.counted > before:
            self.scope.calls.append(found)
        return None

    def _bound(
        self, targets: list[Expr | None], values: list[Expr | None], right: Node | None, node: Node
    ) -> None:
        line = node.start_point[0] + 1
        if len(values) == len(targets):
            for target, value in zip(targets, values, strict=True):
                self._bind(target, value, line)
        elif len(values) == 1:
            first = right.named_children[0] if right is not None else None
            if first is not None and len(targets) == 2 and first.type in _COMMA_OK:
                self._bind(targets[0], values[0], line)
            else:
                group = Group("t", tuple(target or Name("_") for target in targets))
                self.scope.binds.append(Bind(group, values[0], None, line))
        else:
            for value in values:
                self._bind(None, value, line)

    def _bind(
        self, target: Expr | None, value: Expr | None, line: int, of: Expr | None = None
    ) -> None:
        if target is not None:
            self.scope.binds.append(Bind(target, value, of, line))
        elif value is not None:
            self.scope.calls.append(value)

    def _received(self, node: Node) -> None:
        value = self.expr(node.child_by_field_name("right"))
        targets = self._targets(node)
        self._bind(targets[0] if targets else None, value, node.start_point[0] + 1)

    def _range(self, node: Node) -> None:
        of = self.expr(node.child_by_field_name("right"))
        if node.child_by_field_name("left") is None:
            self._bind(None, of, 0)
            return
        targets = self._targets(node)
        line = node.start_point[0] + 1
        source = Name(self.locals.declare(self.locals.fresh("range")))
        self.scope.binds.append(Bind(source, of, None, line))
        # With one variable, a channel gives its values; ``chan`` has no keys, so bind both.
        self._bind(targets[0], Element(source, 0), line)
        if len(targets) > 1:
            self._bind(targets[1], Element(source, 1), line)

    def _var(self, node: Node) -> None:
        names = node.children_by_field_name("name")
        of = self.type(node.child_by_field_name("type"))
        right = node.child_by_field_name("value")
        values = self.exprs(right)
        targets = [self._new(child) for child in names if child.type != ","]
        if of is None:
            self._bound(targets, values, right, node)
            return
        line = node.start_point[0] + 1
        single = len(values) == len(targets)
        for at, target in enumerate(targets):
            value = values[at] if single else None
            # Without a target: ``var _ I = (*T)(nil)`` and ``var _ = f()``.
            self._bind(target, value, line, of)
        if not single and values:
            self.scope.calls.append(self.many(values))

    def _type_switch(self, node: Node) -> None:
        with self.locals:
            initializer = node.child_by_field_name("initializer")
            if initializer is not None:
                self.run(initializer)
            value = self.expr(node.child_by_field_name("value"))
            alias = node.child_by_field_name("alias")
            name = self.noted_local(alias.named_children[0]) if alias is not None else ""
            held = Name(self.locals.declare(self.locals.fresh("switch"))) if name else None
            self._bind(held, value, 0)
            for case in node.named_children:
                if case.type in ("type_case", "default_case"):
                    self._type_case(case, name, value)

    def _type_case(self, case: Node, name: str, value: Expr | None) -> None:
        with self.locals:
            types = [n for n in case.children_by_field_name("type") if n.is_named]
            stated = [self.type(each) for each in types]
            if name:
                of = stated[0] if len(types) == 1 else None
                given = Name(self.locals.declare(name))
                line = case.start_point[0] + 1
                # In a case of several types it keeps the type of the switch's operand.
                typed = Typed(of) if of is not None and self._named_type(types) else None
                self.scope.binds.append(Bind(given, typed if types else value, None, line))
            for child in case.named_children:
                if child.type == "statement_list":
                    self.each(child)

    def _named_type(self, types: list[Node]) -> bool:
        return self.text(types[0]) not in ("nil", "error", "any")
