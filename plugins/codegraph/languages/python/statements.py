"""Lowers Python's statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    RAISED,
    Bind,
    Element,
    Expr,
    Name,
    OneOf,
    Unwrapped,
)
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.python.bindings import Bindings
from plugins.codegraph.languages.python.flow import State
from plugins.codegraph.languages.python.patterns import case
from plugins.codegraph.languages.python.reader import MAX_DEPTH

if TYPE_CHECKING:
    from tree_sitter import Node

_ENDS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})


class Statements(Bindings):
    """Lowers statements into the current scope."""

    def block(self, node: Node | None) -> bool:
        """Lower all statements of a block; returns whether its end is unreachable."""
        if node is None:
            return False
        if self.depth >= MAX_DEPTH:
            self.deeper_than(node)
            return False
        self.depth += 1
        ended = False
        for each in node.named_children:
            kind = each.type
            work = _KINDS.get(kind)
            if work is not None:
                ended = bool(work(self, each)) or ended
            elif kind == "ERROR":
                self.block(each)
            ended = ended or kind in _ENDS
        self.depth -= 1
        return ended

    def _expression(self, node: Node) -> None:
        for each in node.named_children:
            kind = each.type
            if kind == "assignment":
                self._assignment(each)
            elif kind == "augmented_assignment":
                self._augmented(each)
            elif kind != "string":
                self.run(each)

    def _runs(self, node: Node) -> None:
        for each in node.named_children:
            self.run(each)

    def _raise(self, node: Node) -> None:
        using, self.using = self.using, RAISED
        self._runs(node)
        self.using = using

    def _return(self, node: Node) -> None:
        for each in node.named_children:
            if each.type != "comment":
                self.scope.results.append(self.expr(each))

    def _scoping(self, node: Node) -> None:
        word = "global" if node.type == "global_statement" else "nonlocal"
        for each in node.named_children:
            name = self.text(each)
            self._written(Name(name), each)
            self.scope.modifiers.append(f"{word}:{name}")
            self.flow.fix(name)

    def _if(self, node: Node) -> bool:
        ends: list[State] = []
        all_end = True
        condition = node.child_by_field_name("condition")
        self.run(condition)
        start = before = self.flow.save()
        was = self.type_only
        if condition is not None and self.text(condition).endswith("TYPE_CHECKING"):
            self.type_only = True
        self.narrow(condition, True)
        if not self.block(node.child_by_field_name("consequence")):
            ends.append(self.flow.save())
            all_end = False
        self.type_only = was
        self.flow.restore(before)
        self.narrow(condition, False)
        closed = False
        for each in node.children_by_field_name("alternative"):
            tested = each.child_by_field_name("condition")
            if tested is not None:
                self.run(tested)
            before = self.flow.save()
            self.narrow(tested, True)
            block = each.child_by_field_name("consequence") or each.child_by_field_name("body")
            if not self.block(block):
                ends.append(self.flow.save())
                all_end = False
            self.flow.restore(before)
            closed = tested is None
        if not closed:
            ends.append(self.flow.save())
        self.scope.binds += self.flow.meet(start, ends)
        return closed and all_end

    def _for(self, node: Node) -> None:
        right = self.expr(node.child_by_field_name("right"))
        if any(each.type == "async" for each in node.children[:1]):
            right = Unwrapped(right, "async for")
        left = node.child_by_field_name("left")
        before = self.flow.save()
        target = self.target(left)
        if target is not None:
            bind = Bind(target, Element(right), None, node.start_point[0] + 1)
            self.scope.binds.append(bind)
            if left is not None:
                self.declare(left, node)
        self._loop(node, before)

    def _while(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        self.run(condition)
        before = self.flow.save()
        self.narrow(condition, True)
        self._loop(node, before)

    def _loop(self, node: Node, before: State) -> None:
        self.block(node.child_by_field_name("body"))
        after = self.flow.save()
        self.scope.binds += self.flow.loop(before, after)
        self.scope.binds += self.flow.meet(before, [before, after])
        for each in node.children_by_field_name("alternative"):
            self.block(each.child_by_field_name("body"))

    def _with(self, node: Node) -> bool:
        how = "async with" if node.children[0].type == "async" else "with"
        for clause in node.named_children:
            if clause.type == "with_clause":
                for item in clause.named_children:
                    self._with_item(item, how)
        return self.block(node.child_by_field_name("body"))

    def _with_item(self, item: Node, how: str) -> None:
        value = item.child_by_field_name("value")
        if value is None:
            return
        line = item.start_point[0] + 1
        self.counted += 1
        if value.type != "as_pattern":
            self.scope.calls.append(Unwrapped(self.expr(value), how))
            return
        given = Unwrapped(self.expr(value.named_children[0]), how)
        target = self.target(value.named_children[-1])
        if target is None:
            self.scope.calls.append(given)
        else:
            self.scope.binds.append(Bind(target, given, None, line))

    def _try(self, node: Node) -> bool:
        before = self.flow.save()
        ends: list[State] = []
        ended = self.block(node.child_by_field_name("body"))
        self.scope.binds += self.flow.loop(before, self.flow.save())
        for each in _clauses(node, "else_clause"):
            ended = self.block(each.child_by_field_name("body")) or ended
        if not ended:
            ends.append(self.flow.save())
        for each in _clauses(node, "except_clause", "except_group_clause"):
            self.flow.restore(before)
            if not self._handler(each):
                ends.append(self.flow.save())
        self.scope.binds += self.flow.meet(before, ends)
        for each in _clauses(node, "finally_clause"):
            self.block(each.named_children[-1])
        return not ends

    def _handler(self, node: Node) -> bool:
        value = node.child_by_field_name("value")
        body = node.named_children[-1] if node.named_children else None
        if value is not None and value.type == "as_pattern":
            caught = self._caught(value.named_children[0])
            target = self.target(value.named_children[-1])
            if target is not None:
                bind = Bind(target, None, caught, node.start_point[0] + 1)
                self.scope.binds.append(bind)
        elif value is not None:
            self._raise_of(value)
        return self.block(body) if body is not None and body.type == "block" else False

    def _raise_of(self, value: Node) -> None:
        using, self.using = self.using, RAISED
        self.run(value)
        self.using = using

    def _caught(self, node: Node) -> Expr | None:
        if node.type != "tuple":
            return self.used(node, RAISED)
        return OneOf(tuple(self.used(each, RAISED) for each in node.named_children))

    def _match(self, node: Node) -> bool:
        subject_node = node.child_by_field_name("subject")
        subject = self.expr(subject_node)
        self.scope.calls.append(subject)
        before = self.flow.save()
        ends: list[State] = [before]
        for each in children(node, "body"):
            if each.type == "case_clause":
                self.flow.restore(before)
                case(self, each, subject, subject_node)
                if not self.block(each.child_by_field_name("consequence")):
                    ends.append(self.flow.save())
        self.scope.binds += self.flow.meet(before, ends)
        return False

    def _future(self, node: Node) -> None:
        """``from __future__ import annotations`` names nothing of the repository."""
        for each in node.named_children:
            for name in each.named_children if each.type == "aliased_import" else [each]:
                self.noted_local(name)

    def _assert(self, node: Node) -> None:
        self._runs(node)
        if node.named_children:
            self.narrow(node.named_children[0], True)

    def _definition(self, node: Node) -> None:
        raise NotImplementedError


def _clauses(node: Node, *kinds: str) -> list[Node]:
    return [each for each in node.named_children if each.type in kinds]


_KINDS: dict[str, Callable[[Statements, Node], bool | None]] = {
    "expression_statement": Statements._expression,
    "return_statement": Statements._return,
    "raise_statement": Statements._raise,
    "assert_statement": Statements._assert,
    "delete_statement": Statements._runs,
    "print_statement": Statements._runs,
    "exec_statement": Statements._runs,
    "global_statement": Statements._scoping,
    "nonlocal_statement": Statements._scoping,
    "if_statement": Statements._if,
    "for_statement": Statements._for,
    "while_statement": Statements._while,
    "with_statement": Statements._with,
    "try_statement": Statements._try,
    "match_statement": Statements._match,
    "import_statement": Statements._import,
    "import_from_statement": Statements._import_from,
    "future_import_statement": Statements._future,
    "type_alias_statement": Statements._type_alias,
    "function_definition": lambda lowering, node: lowering._definition(node),
    "class_definition": lambda lowering, node: lowering._definition(node),
    "decorated_definition": lambda lowering, node: lowering._definition(node),
    "block": Statements.block,
}
