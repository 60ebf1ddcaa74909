"""Expressions of Python as facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    Arg,
    Attr,
    Bind,
    Call,
    Element,
    Expr,
    Group,
    Inner,
    Item,
    Literal,
    Many,
    Name,
    OneOf,
    Super,
    Table,
    Typed,
    Unwrapped,
)
from plugins.codegraph.languages.draft import Draft
from plugins.codegraph.languages.python.annotations import annotation
from plugins.codegraph.languages.python.flow import Flow
from plugins.codegraph.languages.python.parameters import parameters

if TYPE_CHECKING:
    from tree_sitter import Node


class Expressions(Draft):
    """Lowers expressions; what they bind and what is written in place goes to the current scope."""

    language = "python"

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._numbers = 0
        self.flow = Flow(True, {}, self.number)

    def number(self) -> int:
        """A number that was not used before."""
        self._numbers += 1
        return self._numbers

    def expr(self, node: Node | None) -> Expr | None:
        """What an expression is."""
        if node is None:
            return None
        work = _KINDS.get(node.type)
        if work is None:
            return None
        if self.depth >= 160:
            self.deeper_than(node)
            return None
        self.depth += 1
        found = work(self, node)
        self.depth -= 1
        return found

    def deeper_than(self, node: Node) -> None:
        """The syntax is nested too deep to be followed from here."""
        self.too_deep = self.too_deep or node.start_point[0] + 1

    def exprs(self, nodes: list[Node]) -> tuple[Expr | None, ...]:
        """What several expressions are."""
        return tuple([self.expr(each) for each in nodes])

    def run(self, node: Node | None) -> None:
        """An expression of which only its calls matter."""
        before = self.counted
        found = self.expr(node)
        if self.counted != before:
            self.scope.calls.append(found)

    def _identifier(self, node: Node) -> Expr | None:
        name = self.text(node)
        return Name(self.flow.names.get(name, name))

    def _attribute(self, node: Node) -> Expr | None:
        children = node.named_children
        self.counted += 1
        return Attr(self.expr(children[0]), self.text(children[-1]))

    def _call(self, node: Node) -> Expr | None:
        self.counted += 1
        line = node.start_point[0] + 1
        of = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if of is None or arguments is None:
            return None
        if arguments.type != "argument_list":
            arg = Arg(self.expr(arguments))
            return Call(self.expr(of), (arg,), line)
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
        return Call(self.expr(of), self.arguments(arguments), line)

    def arguments(self, node: Node) -> tuple[Arg, ...]:
        """The arguments of a call."""
        found = []
        for each in node.named_children:
            kind = each.type
            if kind == "keyword_argument":
                name, value = each.named_children[0], each.named_children[-1]
                found.append(Arg(self.expr(value), self.text(name)))
            elif kind in ("list_splat", "dictionary_splat"):
                name_ = "**" if kind == "dictionary_splat" else ""
                found.append(Arg(self.expr(each.named_children[0]), name_, True))
            elif kind != "comment":
                found.append(Arg(self.expr(each)))
        return tuple(found)

    def _super(self, arguments: Node, line: int) -> Expr | None:
        return Super()

    def _cast(self, arguments: Node, line: int) -> Expr | None:
        given = _real(arguments)
        if len(given) != 2:
            return None
        return Typed(self.annotation(given[0]), self.expr(given[1]))

    def _getattr(self, arguments: Node, line: int) -> Expr | None:
        """``getattr`` with a name that is written out is that member."""
        given = _real(arguments)
        if len(given) < 2 or given[1].type != "string":
            return None
        name = self.literal_text(given[1])
        if name is None or not name.isidentifier():
            return None
        found = Attr(self.expr(given[0]), name)
        return OneOf((found, self.expr(given[2]))) if len(given) > 2 else found

    def annotation(self, node: Node | None) -> Expr | None:
        """What a type annotation says."""
        return annotation(self.source, node)

    def literal_text(self, node: Node) -> str | None:
        """The text of a plain string or number, or None."""
        if node.type == "integer":
            return self.text(node)
        if node.type == "unary_operator":
            text = self.text(node)
            return text if text[1:].isdigit() and text[0] == "-" else None
        if node.type != "string":
            return None
        parts = node.named_children
        if any(each.type == "interpolation" for each in parts):
            return None
        return "".join(self.text(each) for each in parts if each.type == "string_content")

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
        """A slice as its key: ``1:``; a bound that is not written out is ``?``."""
        found = ""
        for each in node.children:
            if each.type == ":":
                found += ":"
            elif each.is_named:
                self.run(each)
                found += self.literal_text(each) or "?"
        return found

    def _place(self, node: Node) -> Expr | None:
        if node.type == "string":
            return self.annotation(node)
        if node.type in ("list", "tuple", "none"):
            return self.annotation(node)
        return self.expr(node)

    def _binary(self, node: Node) -> Expr | None:
        """Operands; long chains lean to the left, so they are followed in a loop."""
        operands: list[Node] = []
        operators = set()
        current: Node | None = node
        while current is not None and current.type == "binary_operator":
            left = current.child_by_field_name("left")
            right = current.child_by_field_name("right")
            operator = current.child_by_field_name("operator")
            operators.add(operator.type if operator is not None else "")
            if right is not None:
                operands.append(right)
            current = left
        if current is not None:
            operands.append(current)
        found = self.exprs(operands[::-1])
        if operators == {"|"}:
            return OneOf(found)
        if operators == {"+"} and any(type(each) is Group for each in found):
            return Group("l", tuple(Element(each) for each in found))
        return Many(found, "str" if any(_is_text(each) for each in found) else "")

    def _operands(self, node: Node) -> Expr | None:
        return Many(self.exprs(node.named_children), "bool")

    def _unary(self, node: Node) -> Expr | None:
        return Many(self.exprs(node.named_children[-1:]))

    def _boolean(self, node: Node) -> Expr | None:
        """Operands of ``and`` or ``or``; what the first ones test for, the next ones know."""
        both, operands = _chain(node)
        before = dict(self.flow.names)
        found: list[Expr | None] = []
        for each in operands:
            found.append(self.expr(each))
            self.narrow(each, both)
        self.flow.names = before
        if both:
            return OneOf((Many(tuple(found[:-1])), found[-1]))
        return OneOf(tuple(found))

    def _conditional(self, node: Node) -> Expr | None:
        parts = [each for each in node.named_children if each.type != "comment"]
        if len(parts) != 3:
            return Many(self.exprs(parts))
        self.run(parts[1])
        before = dict(self.flow.names)
        self.narrow(parts[1], True)
        then = self.expr(parts[0])
        self.flow.names = dict(before)
        self.narrow(parts[1], False)
        other = self.expr(parts[2])
        self.flow.names = before
        return OneOf((then, other))

    def narrow(self, test: Node | None, holds: bool) -> None:
        """Where a test is known to hold, or not to, a variable's type is known."""
        while test is not None and test.type in ("parenthesized_expression", "not_operator"):
            if test.type == "not_operator":
                holds = not holds
            test = test.named_children[-1] if test.named_children else None
        if test is None:
            return
        if test.type == "boolean_operator":
            both, operands = _chain(test)
            for each in operands if both == holds and len(operands) < _MANY else ():
                self.narrow(each, holds)
        elif test.type == "call" and holds and not self.flow.plain:
            self._narrow_call(test)

    def _narrow_call(self, test: Node) -> None:
        of = test.child_by_field_name("function")
        arguments = test.child_by_field_name("arguments")
        if of is None or arguments is None or self.text(of) != "isinstance":
            return
        given = _real(arguments)
        if len(given) != 2 or given[0].type != "identifier":
            return
        kind = given[1]
        types = kind.named_children if kind.type == "tuple" else [kind]
        stated = OneOf(self.exprs(types))
        bind = self.flow.narrow(self.text(given[0]), stated)
        if bind is not None:
            self.scope.binds.append(bind)

    def _lambda(self, node: Node) -> Expr | None:
        self.counted += 1
        given = parameters(self, node.child_by_field_name("parameters"))
        before = self.enter("function")
        outer = self.flow
        self.flow = Flow(False, outer.names, self.number)
        self.scope.params += given
        self.flow.own(each.name for each in given)
        number = self.at
        self.scope.results.append(self.expr(node.child_by_field_name("body")))
        self.flow = outer
        self.leave(before)
        return Inner(number)

    def _comprehension(self, node: Node) -> Expr | None:
        self.counted += 1
        before = dict(self.flow.names)
        body: Node | None = None
        for each in node.named_children:
            if each.type == "for_in_clause":
                self._clause(each)
            elif each.type == "if_clause":
                self.run(each.named_children[0])
                self.narrow(each.named_children[0], True)
            elif body is None and each.type != "comment":
                body = each
        found: Expr
        if body is not None and body.type == "pair":
            self.run(body.child_by_field_name("key"))
            found = Table(((None, self.expr(body.child_by_field_name("value"))),))
        else:
            found = Group("c", (self.expr(body),))
        self.flow.names = before
        return found

    def _clause(self, node: Node) -> None:
        right = self.expr(node.child_by_field_name("right"))
        left = node.child_by_field_name("left")
        for name in names_in(self, left):
            self.flow.names[name] = self.flow.fresh(name)
        target = self.target(left, fresh=False)
        if target is not None:
            self.scope.binds.append(
                Bind(target, Element(right), None, node.start_point[0] + 1)
            )

    def target(self, node: Node | None, fresh: bool = True) -> Expr | None:
        """What an assignment gives a value to.

        Args:
            node: the target.
            fresh: whether this is a new value of its names.
        """
        if node is None:
            return None
        kind = node.type
        if kind == "identifier":
            name = self.text(node)
            return Name(self.flow.assign(name) if fresh else self.flow.names.get(name, name))
        if kind in ("tuple_pattern", "list_pattern", "pattern_list", "tuple", "list"):
            return Group("t", tuple(self.target(each, fresh) for each in _real(node)))
        if kind == "attribute":
            return Attr(self.expr(node.named_children[0]), self.text(node.named_children[-1]))
        if kind == "subscript":
            return self._subscript(node)
        if kind in ("as_pattern_target", "parenthesized_expression") and node.named_children:
            return self.target(node.named_children[0], fresh)
        return None

    def _walrus(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("value"))
        target = self.target(node.child_by_field_name("name"))
        if target is None:
            return value
        self.scope.binds.append(Bind(target, value, None, node.start_point[0] + 1))
        self.counted += 1
        return target

    def _yield(self, node: Node) -> Expr | None:
        values = _real(node)
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

    def _await(self, node: Node) -> Expr | None:
        return Unwrapped(self.expr(node.named_children[0]), "await")

    def _list(self, node: Node) -> Expr | None:
        return Group("l" if node.type == "list" else "s", self._entries(node))

    def _tuple(self, node: Node) -> Expr | None:
        return Group("t", self._entries(node))

    def _entries(self, node: Node) -> tuple[Expr | None, ...]:
        found: list[Expr | None] = []
        for each in _real(node):
            if each.type == "list_splat":
                found.append(Element(self.expr(each.named_children[0])))
            else:
                found.append(self.expr(each))
        return tuple(found)

    def _dictionary(self, node: Node) -> Expr | None:
        pairs: list[tuple[str | None, Expr | None]] = []
        for each in _real(node):
            if each.type == "pair":
                key = each.child_by_field_name("key")
                named = None if key is None else self.literal_text(key)
                if named is None:
                    self.run(key)
                pairs.append((named, self.expr(each.child_by_field_name("value"))))
            elif each.type == "dictionary_splat":
                pairs.append((None, Element(self.expr(each.named_children[0]), 1)))
        return Table(tuple(pairs))

    def _string(self, node: Node) -> Expr | None:
        parts = []
        for each in node.named_children:
            if each.type == "interpolation":
                parts += [self.expr(part) for part in each.named_children]
            elif each.type == "string":
                parts.append(self._string(each))
        parts = [each for each in parts if each is not None and type(each) is not Literal]
        return Many(tuple(parts), "str") if parts else Literal("str")

    def _format(self, node: Node) -> Expr | None:
        inner = [part for each in node.named_children for part in each.named_children]
        found = [self.expr(each) for each in inner]
        return Many(tuple(found)) if any(found) else None

    def _inside(self, node: Node) -> Expr | None:
        inner = _real(node)
        return self.expr(inner[0]) if inner else None

    def _many(self, node: Node) -> Expr | None:
        return Group("t", self.exprs(_real(node)))


_MANY = 40


def _chain(node: Node) -> tuple[bool, list[Node]]:
    """The operands of one chain of ``and`` (true) or of ``or``, which leans to the left."""
    operator = node.child_by_field_name("operator")
    kind = "" if operator is None else operator.type
    operands: list[Node] = []
    current: Node | None = node
    while current is not None and current.type == "boolean_operator":
        own = current.child_by_field_name("operator")
        right = current.child_by_field_name("right")
        if own is None or own.type != kind or right is None:
            break
        operands.append(right)
        current = current.child_by_field_name("left")
    if current is not None:
        operands.append(current)
    return kind == "and", operands[::-1]


def _is_text(expr: Expr | None) -> bool:
    return isinstance(expr, Literal | Many) and expr.kind == "str"


def _real(node: Node) -> list[Node]:
    return [each for each in node.named_children if each.type != "comment"]


def names_in(lowering: Expressions, node: Node | None) -> list[str]:
    """The names that a target binds."""
    if node is None:
        return []
    if node.type == "identifier":
        return [lowering.text(node)]
    if node.type in ("attribute", "subscript"):
        return []
    return [name for each in node.named_children for name in names_in(lowering, each)]


def _literal(kind: str) -> Callable[[Expressions, Node], Expr | None]:
    made = Literal(kind)
    return lambda lowering, node: made


_SPECIAL: dict[str, Callable[[Expressions, Node, int], Expr | None]] = {
    "super": Expressions._super,
    "cast": Expressions._cast,
    "getattr": Expressions._getattr,
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
    "await": Expressions._await,
    "list": Expressions._list,
    "set": Expressions._list,
    "tuple": Expressions._tuple,
    "expression_list": Expressions._many,
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
