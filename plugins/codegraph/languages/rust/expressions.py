"""Lowers Rust's expressions other than blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    CALLED,
    KEYWORD,
    MADE,
    PLAIN,
    TARGET,
    Arg,
    Attr,
    Bind,
    Call,
    Expr,
    Group,
    Inner,
    Item,
    Literal,
    Name,
    OneOf,
    Param,
    Typed,
    Unwrapped,
)
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import last_name
from plugins.codegraph.languages.rust.patterns import Patterns

if TYPE_CHECKING:
    from tree_sitter import Node

BOOL = Literal("bool")
LITERALS = {
    "integer_literal": Literal("i32"),
    "float_literal": Literal("f64"),
    "string_literal": Literal("str"),
    "raw_string_literal": Literal("str"),
    "char_literal": Literal("char"),
    "boolean_literal": BOOL,
    "unit_expression": Literal("()"),
}
_COMPARES = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_SAME = frozenset({"Some", "Ok"})
_PLACES = ("identifier", "self", "field_expression", "index_expression")


class Expressions(Patterns):
    """Lowers expressions."""

    literals = LITERALS
    passing = frozenset({"identifier", "generic_function", "scoped_identifier", "field_expression"})

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower = {
            "identifier": self._identifier,
            "self": lambda node: Name("self"),
            "scoped_identifier": self._path,
            "generic_function": self._generic_function,
            "field_expression": self._field,
            "call_expression": self._call,
            "macro_invocation": self.macro,
            "try_expression": self._unwrapped,
            "await_expression": self._unwrapped,
            "reference_expression": lambda node: self.expr(node.child_by_field_name("value")),
            "unary_expression": self._unary,
            "binary_expression": self._binary,
            "assignment_expression": self._assign,
            "compound_assignment_expr": self._operands,
            "index_expression": self._index,
            "struct_expression": self._struct_value,
            "tuple_expression": self._group,
            "array_expression": self._group,
            "type_cast_expression": self._cast,
            "closure_expression": self._closure,
            "let_chain": self._operands,
            "range_expression": self._range,
            "break_expression": self._operands,
            "yield_expression": self._operands,
        }

    def macro(self, node: Node) -> Expr | None:
        """Lower a macro invocation."""
        raise NotImplementedError

    def block(self, node: Node) -> Expr | None:
        """Lower statements; returns the value of a last expression without a semicolon."""
        raise NotImplementedError

    def _identifier(self, node: Node) -> Expr | None:
        name = self.text(node)
        return None if name == "None" else self.named_value(node)

    def _path(self, node: Node) -> Expr | None:
        found = self._value_path(node)
        return Typed(found.of) if is_variant(found) and isinstance(found, Attr) else found

    def _generic_function(self, node: Node) -> Expr | None:
        of = node.child_by_field_name("function")
        for each in children(node, "type_arguments"):
            self.type_argument(each)
        return self._called(of) if of is not None else None

    def _called(self, node: Node) -> Expr | None:
        self.using = CALLED
        # The callee is a method, not a field: a field needs parentheses, ``(x.f)(1)``.
        if node.type == "field_expression":
            name = node.child_by_field_name("field")
            of = self.used(node.child_by_field_name("value"), PLAIN)
            return self.noted(Attr(of, self.text(name)), name) if name is not None else None
        if node.type == "scoped_identifier":
            return self._value_path(node)
        return self.expr(node)

    def _value_path(self, node: Node) -> Expr | None:
        """Lower a path that is a value; one that ends with a variant makes its enumeration."""
        using = self.using
        parts = self.text(node).split("::")
        variant = len(parts) > 1 and all(part.strip()[:1].isupper() for part in parts[-2:])
        self.using = MADE if variant and using != TARGET and not parts[-1].isupper() else using
        found = self.path_of(node)
        self.using = using
        return found

    def _field(self, node: Node) -> Expr | None:
        name = node.child_by_field_name("field")
        of = self.used(node.child_by_field_name("value"), PLAIN)
        text = "" if name is None else self.text(name)
        if name is None or not text:
            return None
        if not text.isdigit():
            return self.noted(Attr(of, f".{text}"), name)
        of = self.held(of)
        return OneOf((Item(of, text), Attr(of, f".{text}")))

    def _call(self, node: Node) -> Expr | None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        of = self._called(function)
        self.using = PLAIN
        given = [c for c in arguments.named_children if "comment" not in c.type]
        name = last_name(of)
        if name in _SAME and len(given) == 1:
            return self.expr(given[0])
        if name == "Err" or is_variant(of):
            values = self.calls_of(given)
            return Typed(of.of, values) if isinstance(of, Attr) else values
        args = tuple(Arg(self.expr(child)) for child in given)
        self.counted += 1
        return Call(of, args, function.end_point[0] + self.row)

    def _unwrapped(self, node: Node) -> Expr | None:
        how = node.type.removesuffix("_expression")
        return Unwrapped(self.expr(node.named_children[0]), how)

    def _unary(self, node: Node) -> Expr | None:
        value = self.expr(node.named_children[-1])
        if node.children[0].type == "*":
            return Unwrapped(value, "deref")
        return value if isinstance(value, Literal) else self.many([value])

    def _binary(self, node: Node) -> Expr | None:
        before = self.counted
        operator, operands = self.operands(node)
        kind = "bool" if operator in _COMPARES else ""
        if self.counted > before:
            return self.many(operands, kind)
        first = operands[0]
        return BOOL if kind else first if isinstance(first, Literal) else None

    def _operands(self, node: Node) -> Expr | None:
        return self.calls_of([c for c in node.named_children if c.type != "label"])

    def _assign(self, node: Node) -> Expr | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        value = self.expr(right)
        if left is None or left.type not in _PLACES:
            return self.many([value, self.expr(left)])
        target = self.used(left, TARGET)
        line = node.start_point[0] + self.row
        if isinstance(target, Name | Attr | Item):
            self.scope.binds.append(Bind(target, value, None, line))
            return None
        return self.many([value])

    def _index(self, node: Node) -> Expr | None:
        of, index = self.expr(node.named_children[0]), node.named_children[-1]
        self.evaluate(index)
        return of if index.type == "range_expression" else Item(of)

    def _struct_value(self, node: Node) -> Expr | None:
        name = node.child_by_field_name("name")
        of = self.typed(name, MADE)
        if is_variant(of) and isinstance(of, Attr):
            of = of.of
        values: list[Node] = []
        for field in children(node, "body"):
            named = field.child_by_field_name("field") or field
            if field.type == "shorthand_field_initializer" and field.named_child_count:
                named = field.named_children[-1]
            if field.type in ("field_initializer", "shorthand_field_initializer"):
                self.noted(Attr(of, f".{self.text(named)}"), named, KEYWORD)
            if field.type == "field_initializer":
                value = field.child_by_field_name("value")
                values += [value] if value is not None else []
            elif field.type == "base_field_initializer":
                values += field.named_children
        return Typed(of, self.calls_of(values))

    def _group(self, node: Node) -> Expr | None:
        kind = "t" if node.type == "tuple_expression" else "l"
        return Group(kind, tuple(self.expr(child) for child in node.named_children))

    def _cast(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("value"))
        return Typed(self.type(node.child_by_field_name("type")), value)

    def _range(self, node: Node) -> Expr | None:
        return Item(Name("[]"), None, ()) if not node.named_child_count else self._operands(node)

    def _closure(self, node: Node) -> Expr | None:
        self.counted += 1
        with self.within("function") as at, self.locals:
            self.parameters(node.child_by_field_name("parameters"))
            self.scope.returns = self.type(node.child_by_field_name("return_type"))
            self.give(self.expr(node.child_by_field_name("body")))
        return Inner(at)

    def parameters(self, node: Node | None) -> None:
        """Declare the parameters of a function or closure as locals."""
        late: list[tuple[Node, str]] = []
        for child in children(node):
            pattern = child.child_by_field_name("pattern") if child.type == "parameter" else child
            if child.type in ("attribute_item", "line_comment", "block_comment") or pattern is None:
                continue
            of = self.type(child.child_by_field_name("type"))
            if child.type == "self_parameter" or pattern.type == "self":
                self.scope.params.append(Param("self", None))
            elif pattern.type == "identifier":
                self.scope.params.append(Param(self.local(pattern), of))
            else:
                name = self.locals.fresh("param")
                self.scope.params.append(Param(name, of))
                late.append((pattern, name))
        for pattern, name in late:
            self.bind(pattern, Name(name))


def is_variant(of: Expr | None) -> bool:
    """Whether a path names a variant of an enum, by Rust's naming convention: ``Shape::Circle``."""
    if not isinstance(of, Attr) or not of.name[:1].isupper():
        return False
    owner = last_name(of.of)
    return owner[:1].isupper() and (len(of.name) == 1 or not of.name.isupper())
