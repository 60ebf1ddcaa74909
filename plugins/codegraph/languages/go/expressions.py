"""Lowers Go's expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    CALLED,
    KEYWORD,
    MADE,
    PLAIN,
    Arg,
    Attr,
    Call,
    Element,
    Expr,
    Item,
    Literal,
    Name,
    Typed,
)
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.go.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = {
    "int_literal": Literal("int"),
    "float_literal": Literal("float64"),
    "imaginary_literal": Literal("complex128"),
    "rune_literal": Literal("rune"),
    "interpreted_string_literal": Literal("string"),
    "raw_string_literal": Literal("string"),
    "true": Literal("bool"),
    "false": Literal("bool"),
    "iota": Literal("int"),
}
_COMPARES = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_TYPE_NODES = frozenset(
    {"slice_type", "array_type", "map_type", "channel_type", "pointer_type", "function_type",
     "generic_type", "qualified_type", "type_identifier", "struct_type", "interface_type"}
)  # fmt: skip
_BOOL = Literal("bool")


class Expressions(Types):
    """Lowers Go's expressions."""

    literals = _LITERALS
    wrappers = frozenset({"parenthesized_expression", "literal_element"})
    passing = frozenset({"identifier", "selector_expression", "index_expression"})
    _made: Expr | None = None
    """The type of the composite literal that is being lowered, if its keys are fields."""

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower = {
            "identifier": self._identifier,
            "selector_expression": self._selector,
            "call_expression": self._call,
            "composite_literal": self._composite,
            "func_literal": self.function,
            "unary_expression": self._unary,
            "binary_expression": self._binary,
            "index_expression": self._index,
            "slice_expression": self._slice,
            "type_assertion_expression": self._assertion,
            "type_conversion_expression": self._assertion,
            "type_instantiation_expression": self._instantiation,
            "literal_value": self._values,
            "keyed_element": self._keyed,
        }

    def leaf(self, node: Node) -> Expr | None:
        """A literal, or a type used as a value."""
        return super().leaf(node) or (self.type(node) if node.type in _TYPE_NODES else None)

    def exprs(self, node: Node | None) -> list[Expr | None]:
        """Lower the expressions of a list."""
        if node is None:
            return []
        if node.type != "expression_list":
            return [self.expr(node)]
        return [self.expr(child) for child in node.named_children if child.type != "comment"]

    def function(self, node: Node) -> Expr | None:
        """Lower a function literal."""
        raise NotImplementedError

    def _identifier(self, node: Node) -> Expr | None:
        return self.named_value(node)

    def _selector(self, node: Node) -> Expr | None:
        children = node.children
        of = self.used(children[0], PLAIN)
        return self.noted(Attr(of, self.text(children[-1])), children[-1])

    def _call(self, node: Node) -> Expr | None:
        of = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if of is None or arguments is None:
            return None
        if of.type == "identifier":
            name = self.text(of)
            if name in _BUILTINS and name not in self.locals:
                self.noted_local(of)
                return _BUILTINS[name](self, arguments.named_children)
        called, given = self.used(of, CALLED), node.child_by_field_name("type_arguments")
        if given is not None:
            called = Item(called, None, tuple(self.type(each) for each in given.named_children))
        args = tuple(self._arguments(arguments))
        self.counted += 1
        # The line of the called name, not of the start of a multi-line chain.
        return Call(called, args, of.end_point[0] + 1)

    def _arguments(self, node: Node) -> list[Arg]:
        found: list[Arg] = []
        for child in node.named_children:
            if child.type == "variadic_argument":
                found.append(Arg(self.expr(child.named_children[0]), "", True))
            elif child.type != "comment":
                found.append(Arg(self.expr(child)))
        return found

    def _composite(self, node: Node) -> Expr | None:
        stated, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        several = stated is not None and stated.type in _SEVERAL
        elided = any(_is_elided(each) for each in children(body)) if several else True
        of = self.typed(stated, MADE if elided else PLAIN)
        before = self.counted
        outer, self._made = self._made, None if several else of
        values = self._values(body)
        self._made = outer
        return Typed(of, values if self.counted > before else None)

    def _values(self, node: Node | None) -> Expr | None:
        return self.calls_of(children(node))

    def _keyed(self, node: Node) -> Expr | None:
        key, value = node.named_children[0], node.named_children[-1]
        # A bare name as a key is a field name, or a constant.
        if key.named_child_count and key.named_children[0].type == "identifier":
            self._key(key.named_children[0])
            return self._inner(value)
        return self._values(node)

    def _key(self, name: Node) -> None:
        if self._made is None:
            self.expr(name)
        else:
            self.noted(Attr(self._made, self.text(name)), name, KEYWORD)

    def _inner(self, value: Node) -> Expr | None:
        """Lower an element of a composite literal; one that is elided has a type of its own."""
        outer, self._made = self._made, None
        found = self.expr(value)
        self._made = outer
        return found

    def _unary(self, node: Node) -> Expr | None:
        operator, operand = node.children[0].type, node.children[-1]
        value = self.expr(operand)
        if operator in ("&", "*"):
            return value
        if operator == "<-":
            return Element(value)
        return self.many([value], "bool" if operator == "!" else "")

    def _binary(self, node: Node) -> Expr | None:
        before = self.counted
        operator, operands = self.operands(node)
        kind = "bool" if operator in _COMPARES else ""
        if self.counted > before:
            return self.many(operands, kind)
        last = operands[-1]
        return _BOOL if kind else last if isinstance(last, Literal) else None

    def _index(self, node: Node) -> Expr | None:
        operand = self.used(node.child_by_field_name("operand"), self.using)
        self.using = PLAIN
        index = node.child_by_field_name("index")
        before = self.counted
        inner = self.expr(index)
        if self.counted > before:
            self.scope.calls.append(inner)
        # ``f[T](x)`` looks like an index; as a type argument it does no harm to a list.
        given = (inner,) if isinstance(inner, Name | Attr) else ()
        return Item(operand, None, given)

    def _slice(self, node: Node) -> Expr | None:
        children = node.named_children
        before = self.counted
        rest = [self.expr(child) for child in children[1:]]
        if self.counted > before:
            self.scope.calls.append(self.many(rest))
        return self.expr(children[0])

    def _assertion(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("operand"))
        return Typed(self.type(node.child_by_field_name("type")), value)

    def _instantiation(self, node: Node) -> Expr | None:
        children = node.named_children
        return Item(self.expr(children[0]), None, tuple(self.type(c) for c in children[1:]))

    def new(self, nodes: list[Node]) -> Expr | None:
        """``new(T)``."""
        return Typed(self.typed(nodes[0], MADE)) if nodes else None

    def made(self, nodes: list[Node]) -> Expr | None:
        """``make(T, n)``."""
        if not nodes:
            return None
        before = self.counted
        rest = [self.expr(child) for child in nodes[1:]]
        of = self.type(nodes[0])
        return Typed(of, self.many(rest) if self.counted > before else None)

    def appended(self, nodes: list[Node]) -> Expr | None:
        """``append(xs, x)``: a list like its first argument."""
        before = self.counted
        values = [self.expr(_given(child)) for child in nodes]
        if not values:
            return None
        if self.counted > before:
            self.scope.calls.append(self.many(values[1:]))
        return values[0]

    def sized(self, nodes: list[Node]) -> Expr | None:
        """``len``, ``cap``, ``copy``: only the calls in the arguments matter."""
        before = self.counted
        values = [self.expr(_given(child)) for child in nodes]
        return self.many(values, "int") if self.counted > before else Literal("int")

    def nothing(self, nodes: list[Node]) -> Expr | None:
        """``panic``, ``delete`` and other builtins without a useful result."""
        before = self.counted
        values = [self.expr(_given(child)) for child in nodes]
        return self.many(values) if self.counted > before else None


_BUILTINS: dict[str, Callable[[Expressions, list[Node]], Expr | None]] = {
    "make": Expressions.made,
    "new": Expressions.new,
    "append": Expressions.appended,
    "len": Expressions.sized,
    "cap": Expressions.sized,
    "copy": Expressions.sized,
    **dict.fromkeys(("panic", "delete", "close", "recover"), Expressions.nothing),
}
"""Built-in functions with a lowering of their own. ``min`` and ``max`` are not among them, since a
package may define its own, as many did before Go 1.21."""


_SEVERAL = frozenset({"slice_type", "array_type", "implicit_length_array_type", "map_type"})


def _is_elided(node: Node) -> bool:
    """Whether an element of a list or map is a literal without its type."""
    while node.type in ("keyed_element", "literal_element") and node.named_child_count:
        node = node.named_children[-1]
    return node.type == "literal_value"


def _given(node: Node) -> Node:
    """An argument without the ``...`` of ``xs...``."""
    spread = node.type == "variadic_argument" and node.named_child_count
    return node.named_children[0] if spread else node
