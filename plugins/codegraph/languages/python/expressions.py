"""Lowers Python's expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    CALLED,
    DECORATOR,
    KEYWORD,
    PLAIN,
    RAISED,
    Arg,
    Attr,
    Call,
    Element,
    Expr,
    Group,
    Item,
    Literal,
    Name,
    OneOf,
    Super,
    Typed,
    Unwrapped,
)
from plugins.codegraph.languages.python.annotations import Reading, annotation
from plugins.codegraph.languages.python.displays import Displays
from plugins.codegraph.languages.python.reader import real

if TYPE_CHECKING:
    from tree_sitter import Node


class Expressions(Displays):
    """Lowers expressions; their bindings and inline functions go to the current scope."""

    def _identifier(self, node: Node) -> Expr | None:
        name = self.text(node)
        found = Name(self.flow.names.get(name, name))
        if self.flow.is_local(name):
            self.noted_local(node)
            return found
        return self.noted(found, node)

    def _attribute(self, node: Node) -> Expr | None:
        children = node.named_children
        self.counted += 1
        named = children[-1]
        of = self.used(children[0], PLAIN)
        return self.noted(Attr(of, self.text(named), named.start_point[0] + 1), named)

    def _call(self, node: Node) -> Expr | None:
        self.counted += 1
        how = self.using if self.using in (RAISED, DECORATOR) else CALLED
        using, self.using = self.using, PLAIN
        found = self._called(node, how)
        self.using = using
        return found

    def _called(self, node: Node, how: str) -> Expr | None:
        line = node.start_point[0] + 1
        of = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if of is None or arguments is None:
            return None
        if arguments.type != "argument_list":
            arg = Arg(self.expr(arguments))
            return Call(self.used(of, how), (arg,), line)
        if of.type == "identifier":
            special = _SPECIAL.get(self.text(of))
            if special is not None:
                found = special(self, arguments, line)
                if found is not None:
                    return found
        elif of.type == "attribute" and self.text(of) == "typing.cast":
            return self._cast(arguments, line)
        if of.end_point[0] != of.start_point[0]:
            line = of.end_point[0] + 1
        called = self.used(of, how)
        return Call(called, self.arguments(arguments, called), line)

    def arguments(self, node: Node, of: Expr | None = None) -> tuple[Arg, ...]:
        """Lower the arguments of a call of ``of``."""
        found = []
        for each in node.named_children:
            kind = each.type
            if kind == "keyword_argument":
                name, value = each.named_children[0], each.named_children[-1]
                found.append(Arg(self.expr(value), self.text(name)))
                self._keyword(of, name)
            elif kind in ("list_splat", "dictionary_splat"):
                name_ = "**" if kind == "dictionary_splat" else ""
                found.append(Arg(self.expr(each.named_children[0]), name_, True))
            elif kind != "comment":
                found.append(Arg(self.expr(each)))
        return tuple(found)

    def _keyword(self, of: Expr | None, name: Node) -> None:
        """Note that an argument names a parameter of a function, or a field of a class."""
        self.noted(Attr(of, self.text(name)), name, KEYWORD)

    def _cast(self, arguments: Node, line: int) -> Expr | None:
        given = real(arguments)
        if len(given) != 2:
            return None
        return Typed(self.annotation(given[0]), self.expr(given[1]))

    def _checked(self, arguments: Node, line: int) -> Expr | None:
        """``isinstance`` and ``issubclass``, which name types."""
        given = real(arguments)
        if len(given) != 2:
            return None
        args = (Arg(self.expr(given[0])), Arg(self.used(given[1], AS_TYPE)))
        return Call(Name("isinstance"), args, line)

    def _getattr(self, arguments: Node, line: int) -> Expr | None:
        """``getattr`` with a literal name is that member."""
        given = real(arguments)
        if len(given) < 2 or given[1].type != "string":
            return None
        name = self.literal_text(given[1])
        if name is None or not name.isidentifier():
            return None
        found = Attr(self.expr(given[0]), name, line)
        return OneOf((found, self.expr(given[2]))) if len(given) > 2 else found

    def _subscript(self, node: Node) -> Expr | None:
        of, *places = [each for each in node.named_children if each.type != "comment"]
        value = self.expr(of)
        self.counted += 1
        if len(places) == 1 and places[0].type == "slice":
            return Item(value, self._bounds(places[0]))
        key = self.literal_text(places[0]) if len(places) == 1 else None
        args = tuple([self._place(each) for each in places])
        return Item(value, key, args)

    def _bounds(self, node: Node) -> str:
        """A slice as a subscript key: ``1:``; a bound that is no literal is ``?``."""
        found = ""
        for each in node.children:
            if each.type == ":":
                found += ":"
            elif each.is_named:
                self.run(each)
                found += self.literal_text(each) or "?"
        return found

    def _place(self, node: Node) -> Expr | None:
        if node.type == "string":  # a type argument or a key, which nothing here tells
            return annotation(Reading(self.source, lambda *_: None), node)
        if node.type in ("list", "tuple", "none"):
            return self.annotation(node)
        return self.expr(node)

    def _yield(self, node: Node) -> Expr | None:
        values = real(node)
        value: Expr | None = None
        if len(values) == 1:
            value = self.expr(values[0])
        elif values:
            value = Group("t", self.exprs(values))
        if any(each.type == "from" for each in node.children):
            value = Element(value)
        self.scope.yields.append(value)
        if "generator" not in self.scope.modifiers:
            self.scope.modifiers.append("generator")
        self.counted += 1
        return None

    def _inside(self, node: Node) -> Expr | None:
        inner = real(node)
        return self.expr(inner[0]) if inner else None


def _literal(kind: str) -> Callable[[Expressions, Node], Expr | None]:
    made = Literal(kind)
    return lambda lowering, node: made


_SPECIAL: dict[str, Callable[[Expressions, Node, int], Expr | None]] = {
    "super": lambda lowering, arguments, line: Super(),
    "cast": Expressions._cast,
    "getattr": Expressions._getattr,
    "isinstance": Expressions._checked,
    "issubclass": Expressions._checked,
}

_KINDS: dict[str, Callable[[Expressions, Node], Expr | None]] = {
    "identifier": Expressions._identifier,
    "attribute": Expressions._attribute,
    "call": Expressions._call,
    "subscript": Expressions._subscript,
    "binary_operator": Expressions._binary,
    "comparison_operator": Expressions._operands,
    "not_operator": Expressions._operands,
    "unary_operator": Expressions._unary,
    "boolean_operator": Expressions._boolean,
    "conditional_expression": Expressions._conditional,
    "lambda": Expressions._lambda,
    "list_comprehension": Expressions._comprehension,
    "set_comprehension": Expressions._comprehension,
    "dictionary_comprehension": Expressions._comprehension,
    "generator_expression": Expressions._comprehension,
    "named_expression": Expressions._walrus,
    "yield": Expressions._yield,
    "await": lambda low, node: Unwrapped(low.expr(node.named_children[0]), "await"),
    "list": Expressions._list,
    "set": Expressions._list,
    "tuple": Expressions._tuple,
    "expression_list": lambda lowering, node: Group("t", lowering.exprs(real(node))),
    "dictionary": Expressions._dictionary,
    "string": Expressions._string,
    "concatenated_string": Expressions._string,
    "format_specifier": Expressions._format,
    "parenthesized_expression": Expressions._inside,
    "list_splat": Expressions._inside,
    "integer": _literal("int"),
    "float": _literal("float"),
    "true": _literal("bool"),
    "false": _literal("bool"),
    "none": _literal("None"),
}

Expressions.kinds = _KINDS
