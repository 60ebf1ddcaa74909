"""Lowers imports and assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    TARGET,
    Attr,
    Bind,
    Call,
    Expr,
    Import,
    Name,
)
from plugins.codegraph.languages.python.expressions import Expressions
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPE_VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})


class Bindings(Expressions):
    """Lowers statements that bind names in the current scope."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self.type_only = False

    def _assignment(self, node: Node) -> Expr | None:
        """Lower an assignment; returns the right-hand side, for chained assignments."""
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
        """Whether this is ``T = TypeVar("T")``, which declares a type parameter."""
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
        own = self.noted_local(left)
        self.scope.modifiers.append(f"typevar:{own}")
        for arg in value.args:
            if arg.name == "bound":
                self.scope.binds.append(Bind(Name(f"{own}:bound"), None, arg.value, value.line))
        return True

    def declare(self, target: Node, statement: Node) -> None:
        """Define the variables of modules, classes and objects that other code can refer to."""
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
        if self.is_field(of):
            self.variable(self.text(target.named_children[-1]), statement, self._around())

    def variable(self, name: str, node: Node, parent: int) -> None:
        """Define a variable, once."""
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

    def _augmented(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        left = node.child_by_field_name("left")
        if left is not None and right is not None and right.type in ("list", "dictionary", "tuple"):
            plain = left.type == "identifier"
            target = self.used(left, TARGET) if plain else self.target(left, fresh=False)
            if target is not None:
                bind = Bind(target, self.expr(right), None, node.start_point[0] + 1)
                self.scope.binds.append(bind)
                return
        self.used(left, TARGET)
        self.run(right)

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
        """Add an import to the scope."""
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
