"""Go's statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
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
from plugins.codegraph.languages.go.expressions import Expressions

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMA_OK = frozenset({"index_expression", "type_assertion_expression", "unary_expression"})


class Statements(Expressions):
    """What Go says in bodies."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._run: dict[str, Callable[[Node], None]] = {
            "statement_list": self._each,
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
        """A declaration of types."""
        raise NotImplementedError

    def run(self, node: Node) -> None:
        """A statement, or a part of one."""
        run = self._run.get(node.type)
        if run is None:
            if node.type in self._lower:
                run = self.evaluate
            elif node.child_count:
                run = self._each
            else:
                return
        if self.deeper(node):
            return
        self.depth += 1
        run(node)
        self.depth -= 1

    def block(self, node: Node) -> None:
        """Statements with locals of their own."""
        self.locals.push()
        self._each(node)
        self.locals.pop()

    def function(self, node: Node) -> Expr | None:
        """A function that is written in place."""
        self.counted += 1
        before = self.enter("function")
        at = self.at
        self.locals.push()
        self.scope.params += self.declared(node)
        self.scope.returns = self.result(node)
        body = node.child_by_field_name("body")
        if body is not None:
            self.run(body)
        self.locals.pop()
        self.leave(before)
        return Inner(at)

    def declared(self, node: Node) -> list[Param]:
        """The parameters of a function, as locals."""
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

    def _each(self, node: Node) -> None:
        for child in node.children:
            if child.is_named:
                self.run(child)

    def _return(self, node: Node) -> None:
        if node.named_child_count:
            values = self.exprs(node.named_children[0])
            self.scope.results.append(values[0] if len(values) == 1 else Group("t", tuple(values)))

    def _short(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        values = self.exprs(right)
        left = node.child_by_field_name("left")
        names = [] if left is None else left.named_children
        targets = [self._new(child) for child in names]
        self._bound(targets, values, right, node)

    def _new(self, node: Node) -> Expr | None:
        name = self.text(node)
        return None if name == "_" else Name(self.locals.declare(name))

    def _assign(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        values = self.exprs(right)
        left = node.child_by_field_name("left")
        targets = [self._target(child) for child in (left.named_children if left else ())]
        self._bound(targets, values, right, node)

    def _target(self, node: Node) -> Expr | None:
        before = self.counted
        found = self.expr(node)
        if isinstance(found, Name | Attr | Item) and not (
            isinstance(found, Name) and found.id == "_"
        ):
            return found
        if self.counted > before:
            self.scope.calls.append(found)
        return None

    def _bound(
        self,
        targets: list[Expr | None],
        values: list[Expr | None],
        right: Node | None,
        node: Node,
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

    def _bind(self, target: Expr | None, value: Expr | None, line: int) -> None:
        if target is not None:
            self.scope.binds.append(Bind(target, value, None, line))
        elif value is not None:
            self.scope.calls.append(value)

    def _received(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        value = self.expr(right)
        left = node.child_by_field_name("left")
        names = left.named_children if left is not None else []
        new = any(child.type == ":=" for child in node.children)
        targets = [self._new(child) if new else self._target(child) for child in names]
        self._bind(targets[0] if targets else None, value, node.start_point[0] + 1)

    def _range(self, node: Node) -> None:
        of = self.expr(node.child_by_field_name("right"))
        left = node.child_by_field_name("left")
        if left is None:
            self._bind(None, of, 0)
            return
        new = any(child.type == ":=" for child in node.children)
        targets = [self._new(c) if new else self._target(c) for c in left.named_children]
        line = node.start_point[0] + 1
        source = Name(self.locals.declare(self.locals.fresh("range")))
        self.scope.binds.append(Bind(source, of, None, line))
        # Of one name, a channel gives its values; ``chan`` has no keys, so that both are said.
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
            if target is not None:
                self.scope.binds.append(Bind(target, value, of, line))
            elif value is not None:
                # ``var _ I = (*T)(nil)`` and ``var _ = f()``.
                self.scope.calls.append(value)
        if not single and values:
            self.scope.calls.append(self.many(values))

    def _type_switch(self, node: Node) -> None:
        self.locals.push()
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            self.run(initializer)
        value = self.expr(node.child_by_field_name("value"))
        alias = node.child_by_field_name("alias")
        name = self.text(alias.named_children[0]) if alias is not None else ""
        before = self.scope.binds
        if name:
            before.append(Bind(Name(self.locals.declare(self.locals.fresh("switch"))), value))
        elif value is not None:
            self.scope.calls.append(value)
        for case in node.named_children:
            if case.type in ("type_case", "default_case"):
                self._type_case(case, name, value)
        self.locals.pop()

    def _type_case(self, case: Node, name: str, value: Expr | None) -> None:
        self.locals.push()
        types = [n for n in case.children_by_field_name("type") if n.is_named]
        if name:
            of = self.type(types[0]) if len(types) == 1 else None
            given = Name(self.locals.declare(name))
            line = case.start_point[0] + 1
            # Where it is one of several types, it keeps the type of what was switched on.
            typed = Typed(of) if of is not None and self._named_type(types) else None
            self.scope.binds.append(Bind(given, typed if types else value, None, line))
        for child in case.named_children:
            if child.type == "statement_list":
                self._each(child)
        self.locals.pop()

    def _named_type(self, types: list[Node]) -> bool:
        return self.text(types[0]) not in ("nil", "error", "any")
