"""Statements of Python as facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    Attr,
    Bind,
    Call,
    Element,
    Expr,
    Import,
    Name,
    OneOf,
    Unwrapped,
)
from plugins.codegraph.languages.python.expressions import Expressions
from plugins.codegraph.languages.python.flow import State
from plugins.codegraph.languages.python.matching import case
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_ENDS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_TYPE_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})


class Statements(Expressions):
    """Lowers statements into the current scope."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self.type_only = False

    def block(self, node: Node | None) -> bool:
        """All statements of a block; whether its end is never reached."""
        if node is None:
            return False
        if self.depth >= 160:
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

    def _assignment(self, node: Node) -> Expr | None:
        """An assignment; what the right side is, for a chain of them."""
        right = node.child_by_field_name("right")
        left = node.child_by_field_name("left")
        stated = self.annotation(node.child_by_field_name("type"))
        if right is not None and right.type == "assignment":
            value = self._assignment(right)
        else:
            value = self.expr(right)
        line = node.start_point[0] + 1
        if left is None or self._type_variable(left, value):
            return value
        target = self.target(left)
        if target is None:
            return value
        self.scope.binds.append(Bind(target, value, stated, line))
        self.declare(left, node)
        return target if type(target) is Name else value

    def _type_variable(self, left: Node, value: Expr | None) -> bool:
        """``T = TypeVar("T")`` declares a type parameter."""
        if type(value) is not Call or left.type != "identifier":
            return False
        of = value.of
        name = of.id if type(of) is Name else of.name if type(of) is Attr else ""
        if name == "NewType" and len(value.args) == 2:
            target = Name(self.text(left))
            self.scope.binds.append(Bind(target, value.args[1].value, None, value.line))
            return True
        if name not in _TYPE_VARIABLES:
            return False
        own = self.text(left)
        self.scope.modifiers.append(f"typevar:{own}")
        for arg in value.args:
            if arg.name == "bound":
                self.scope.binds.append(Bind(Name(f"{own}:bound"), None, arg.value, value.line))
        return True

    def declare(self, target: Node, statement: Node) -> None:
        """Write down the variables that others can name: of modules, classes and objects."""
        kind = target.type
        scope = self.scope.kind
        if kind == "identifier" and scope != "function":
            self.variable(self.text(target), statement, self.owner)
        elif kind == "attribute" and scope == "function":
            self._field(target, statement)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple"):
            for each in target.named_children:
                self.declare(each, statement)

    def _field(self, target: Node, statement: Node) -> None:
        of = target.named_children[0]
        if of.type != "identifier" or not self.scope.params:
            return
        if self.scopes[self.scope.parent].kind == "class":
            if self.text(of) == self.scope.params[0].name:
                owner = self.scopes[self.scope.parent].definition
                self.variable(self.text(target.named_children[-1]), statement, owner)

    def variable(self, name: str, node: Node, parent: int) -> None:
        """Write down a variable, once."""
        if (parent, name) in self.declared or name == "_":
            return
        self.declared.add((parent, name))
        stated = node.child_by_field_name("type")
        signature = "" if stated is None else self.text(stated)
        self.define(
            EntityKind.VARIABLE,
            name,
            node,
            signature=signature,
            exported=not name.startswith("_"),
            parent=parent,
        )

    declared: set[tuple[int, str]]

    def _augmented(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        left = node.child_by_field_name("left")
        if left is not None and right is not None and right.type in ("list", "dictionary", "tuple"):
            name = self.text(left)
            if left.type == "identifier":
                target: Expr | None = Name(self.flow.names.get(name, name))
            else:
                target = self.target(left, fresh=False)
            if target is not None:
                bind = Bind(target, self.expr(right), None, node.start_point[0] + 1)
                self.scope.binds.append(bind)
                return
        self.run(right)

    def _runs(self, node: Node) -> None:
        for each in node.named_children:
            self.run(each)

    def _return(self, node: Node) -> None:
        for each in node.named_children:
            if each.type != "comment":
                self.scope.results.append(self.expr(each))

    def _scoping(self, node: Node) -> None:
        word = "global" if node.type == "global_statement" else "nonlocal"
        for each in node.named_children:
            name = self.text(each)
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
        self._meet(start, ends)
        return closed and all_end

    def _meet(self, before: State, ends: list[State]) -> None:
        self.scope.binds += self.flow.meet(before, ends)

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
        self._meet(before, [before, after])
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
        after = self.flow.save()
        middle = self.flow.loop(before, after)
        self.scope.binds += middle
        final: Node | None = None
        for each in node.named_children:
            if each.type == "else_clause":
                ended = self.block(each.child_by_field_name("body")) or ended
                after = self.flow.save()
            elif each.type == "finally_clause":
                final = each
        if not ended:
            ends.append(after)
        for each in node.named_children:
            if each.type in ("except_clause", "except_group_clause"):
                self.flow.restore(before)
                if not self._handler(each):
                    ends.append(self.flow.save())
        self._meet(before, ends)
        if final is not None:
            ended = self.block(final.named_children[-1]) or not ends
        return not ends or (ended and len(ends) == 0)

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
            self.run(value)
        return self.block(body) if body is not None and body.type == "block" else False

    def _caught(self, node: Node) -> Expr | None:
        if node.type == "tuple":
            return OneOf(self.exprs(node.named_children))
        return self.expr(node)

    def _match(self, node: Node) -> bool:
        subject_node = node.child_by_field_name("subject")
        subject = self.expr(subject_node)
        self.scope.calls.append(subject)
        before = self.flow.save()
        ends: list[State] = [before]
        body = node.child_by_field_name("body")
        for each in body.named_children if body is not None else ():
            if each.type == "case_clause":
                self.flow.restore(before)
                case(self, each, subject, subject_node)
                if not self.block(each.child_by_field_name("consequence")):
                    ends.append(self.flow.save())
        self._meet(before, ends)
        return False

    def _assert(self, node: Node) -> None:
        self._runs(node)
        if node.named_children:
            self.narrow(node.named_children[0], True)

    def _import(self, node: Node) -> None:
        line = node.start_point[0] + 1
        for each in node.named_children:
            if each.type == "aliased_import":
                module = self.text(each.named_children[0])
                alias = self.text(each.named_children[-1])
                self.imported(Import(alias, module, line=line, type_only=self.type_only))
            elif each.type == "dotted_name":
                module = self.text(each)
                top = module.partition(".")[0]
                self.imported(Import(top, top, line=line, type_only=self.type_only))
                if top != module:
                    self.imported(Import("", module, line=line, type_only=self.type_only))

    def imported(self, each: Import) -> None:
        """Write down an import."""
        if each.alias:
            self.flow.assigned.add(each.alias)
            self.flow.names.pop(each.alias, None)
        self.scope.imports.append(each)

    def _import_from(self, node: Node) -> None:
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        written = self.text(source)
        module = written.lstrip(".")
        level = len(written) - len(module)
        module = module.strip()
        line = node.start_point[0] + 1
        for each in node.named_children[1:]:
            if each.type == "wildcard_import":
                self.imported(Import("", module, "*", level, "*", self.type_only, line))
            elif each.type == "aliased_import":
                name = self.text(each.named_children[0])
                alias = self.text(each.named_children[-1])
                self.imported(Import(alias, module, name, level, "", self.type_only, line))
            elif each.type == "dotted_name":
                name = self.text(each)
                self.imported(Import(name, module, name, level, "", self.type_only, line))

    def _type_alias(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        name_node = left
        while name_node is not None and name_node.type != "identifier":
            name_node = name_node.named_children[0] if name_node.named_children else None
        if name_node is None:
            return
        line = node.start_point[0] + 1
        target = Name(self.text(name_node))
        self.scope.binds.append(Bind(target, self.annotation(right), None, line))
        self.declare(name_node, node)

    def _definition(self, node: Node) -> None:
        raise NotImplementedError


_KINDS: dict[str, Callable[[Statements, Node], bool | None]] = {
    "expression_statement": Statements._expression,
    "return_statement": Statements._return,
    "raise_statement": Statements._runs,
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
    "future_import_statement": lambda lowering, node: None,
    "type_alias_statement": Statements._type_alias,
    "function_definition": lambda lowering, node: lowering._definition(node),
    "class_definition": lambda lowering, node: lowering._definition(node),
    "decorated_definition": lambda lowering, node: lowering._definition(node),
    "block": Statements.block,
}
