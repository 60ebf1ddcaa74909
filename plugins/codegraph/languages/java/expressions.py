"""Lowers Java's expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    CALLED,
    DECORATOR,
    KEYWORD,
    MADE,
    PLAIN,
    RAISED,
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
    Super,
    Typed,
)
from plugins.codegraph.languages.builder import children
from plugins.codegraph.languages.expressions import one_of
from plugins.codegraph.languages.java.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node

CONSTRUCTOR = "<init>"
_BOOL = Literal("boolean")
_LITERALS = {
    "decimal_integer_literal": Literal("int"),
    "hex_integer_literal": Literal("int"),
    "octal_integer_literal": Literal("int"),
    "binary_integer_literal": Literal("int"),
    "decimal_floating_point_literal": Literal("double"),
    "character_literal": Literal("char"),
    "string_literal": Literal("String"),
    "true": _BOOL,
    "false": _BOOL,
}
_COMPARES = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


class Expressions(Types):
    """Lowers Java's expressions."""

    literals = _LITERALS
    passing = frozenset({"identifier", "field_access", "object_creation_expression"})

    def __init__(self, path: str, source: bytes) -> None:
        super().__init__(path, source)
        self._lower = {
            "identifier": self._identifier,
            "this": lambda node: Name("this"),
            "super": lambda node: Super(),
            "field_access": self._field,
            "method_invocation": self._call,
            "object_creation_expression": self._new,
            "explicit_constructor_invocation": self._explicit,
            "lambda_expression": self._lambda,
            "method_reference": self._reference,
            "assignment_expression": self._assign,
            "binary_expression": self._binary,
            "unary_expression": self._operands,
            "update_expression": self._operands,
            "ternary_expression": self._ternary,
            "cast_expression": self._cast,
            "instanceof_expression": self._instanceof,
            "array_access": self._index,
            "array_initializer": self._array,
            "array_creation_expression": self._new_array,
            "switch_expression": self.switch,
            "template_expression": self._operands,
            "class_literal": self._class_literal,
        }

    def switch(self, node: Node) -> Expr | None:
        """Lower a switch; its value is one of its branches' values."""
        raise NotImplementedError

    def members(self, node: Node) -> None:
        """Lower the members of an anonymous class."""
        raise NotImplementedError

    def _identifier(self, node: Node) -> Expr | None:
        name = self.text(node)
        if self.locals.is_local(name):
            self.noted_local(node)
        if name in self.locals:
            return Name(self.locals.look(name))
        return self.noted(self.unbound(name), node)

    def unbound(self, name: str) -> Expr:
        """A bare name that is no local: a field, or a class."""
        if name[:1].islower() or name[:1] == "_":
            return Name(f".{name}")
        if name.isupper():
            return OneOf((Name(f".{name}"), Name(name)))
        return Name(name)

    def _class_literal(self, node: Node) -> Expr | None:
        self.type(node.named_children[0] if node.named_child_count else None)
        return Literal("Class")

    def annotations(self, node: Node) -> None:
        """Note the annotations of a declaration, and what their arguments name."""
        for modifiers in node.children[:1]:
            if modifiers.type == "modifiers":
                for each in modifiers.named_children:
                    self._annotation(each)

    def _annotation(self, node: Node) -> None:
        named = node.child_by_field_name("name")
        if named is None or "annotation" not in node.type:
            return
        of = self.typed(named, DECORATOR)
        for child in children(node, "arguments"):
            if child.type == "element_value_pair":
                key = child.child_by_field_name("key")
                if key is not None:
                    self.noted(Attr(of, self.text(key)), key, KEYWORD)
                self._annotated(child.child_by_field_name("value"))
            else:
                self._annotated(child)

    def _annotated(self, node: Node | None) -> None:
        """Note what the value of an annotation's argument names."""
        for child in children(node) if node is not None and "array" in node.type else [node]:
            if child is not None and "annotation" in child.type:
                self._annotation(child)
            else:
                self.expr(child)

    def _field(self, node: Node) -> Expr | None:
        of, name = node.child_by_field_name("object"), node.child_by_field_name("field")
        if of is None or name is None:
            return None
        if name.type == "this":
            return Typed(self.expr(of))
        text = self.text(name)
        if text[:1].isupper() and not text.isupper():
            package = self._package(of)
            inner = Name(package) if package else self.used(of, PLAIN)
            return self.noted(Attr(inner, text), name)
        return self.noted(Attr(self.used(of, PLAIN), f".{text}"), name)

    def _package(self, node: Node) -> str:
        """The package part of a qualified name, by the lower-case convention: ``java.util`` of
        ``java.util.List``."""
        text = self.text(node)
        if node.type != "field_access" or not text.islower() or "(" in text:
            return ""
        return "" if text.partition(".")[0] in self.locals else text

    def _call(self, node: Node) -> Expr | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        of = node.child_by_field_name("object")
        text = self.text(name)
        called = Name(text) if of is None else Attr(self.expr(of), text)
        self.noted(called, name, CALLED)
        args = self._arguments(node.child_by_field_name("arguments"))
        self.counted += 1
        return Call(called, args, name.start_point[0] + 1)

    def _arguments(self, node: Node | None) -> tuple[Arg, ...]:
        return tuple(Arg(self.expr(c)) for c in children(node) if "comment" not in c.type)

    def _new(self, node: Node) -> Expr | None:
        of = node.child_by_field_name("type")
        made = self.typed(of, self.using if self.using == RAISED else MADE)
        self.using = PLAIN
        outer = node.named_children[0]
        if outer != of and outer.type not in ("type_arguments", "annotation", "marker_annotation"):
            # ``outer.new Inner()``: a member class of the outer expression's type.
            owner = self.expr(outer)
            made = Attr(owner, made.id) if isinstance(made, Name) else made
        args = self._arguments(node.child_by_field_name("arguments"))
        self.counted += 1
        call = Call(made, args, node.start_point[0] + 1, True)
        last = node.named_children[-1]
        return self.anonymous(last, made, call) if last.type == "class_body" else call

    def anonymous(self, body: Node, base: Expr | None, call: Expr | None) -> Expr | None:
        """Lower an anonymous class; its calls belong to the enclosing definition."""
        with self.within("class"):
            at = self.at
            self.scope.bases.append(base)
            with self.locals:
                self.members(body)
        return Typed(Inner(at), call)

    def _explicit(self, node: Node) -> Expr | None:
        constructor = node.child_by_field_name("constructor")
        owner = Super() if constructor is not None and constructor.type == "super" else Name("this")
        args = self._arguments(node.child_by_field_name("arguments"))
        self.counted += 1
        return Call(Attr(owner, CONSTRUCTOR), args, node.start_point[0] + 1)

    def _lambda(self, node: Node) -> Expr | None:
        self.counted += 1
        with self.within("function") as at, self.locals:
            parameters = node.child_by_field_name("parameters")
            if parameters is not None and parameters.type == "identifier":
                self.scope.params.append(Param(self.locals.declare(self.text(parameters))))
            elif parameters is not None:
                self.parameters(parameters)
            body = node.child_by_field_name("body")
            if body is not None and body.type == "block":
                self.block(body)
            else:
                self.give(self.expr(body))
        return Inner(at)

    def parameters(self, node: Node | None) -> None:
        """Declare the parameters of a method or lambda as locals."""
        for child in children(node):
            kind = child.type
            if kind == "identifier":
                self.scope.params.append(Param(self.local(child)))
            elif kind == "formal_parameter":
                self._parameter(child.child_by_field_name("name"), child, "")
            elif kind == "spread_parameter":
                declarators = [c for c in child.named_children if c.type == "variable_declarator"]
                name = declarators[0].child_by_field_name("name") if declarators else None
                self._parameter(name, child, "*")

    def _parameter(self, name: Node | None, node: Node, kind: str) -> None:
        of = node.child_by_field_name("type")
        if of is None:
            types = [
                c for c in node.named_children if c.type not in ("modifiers", "variable_declarator")
            ]
            of = types[0] if types else None
        if name is None:
            return
        self.annotations(node)
        stated = self.array(self.type(of), node)
        given = self.local(name)
        self.scope.params.append(Param(given, stated, None, kind))

    def _reference(self, node: Node) -> Expr | None:
        children = node.named_children
        first = children[0]
        made = node.children[-1].type == "new"
        how = MADE if made else PLAIN
        of = self.used(first, how) if first.type in self._lower else self.typed(first, how)
        if len(children) < 2 or made:
            return of
        self.counted += 1
        return self.noted(Attr(of, self.text(children[-1])), children[-1])

    def _assign(self, node: Node) -> Expr | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        target = self.used(left, TARGET)
        value = self.expr(right)
        if isinstance(target, OneOf):
            target = target.choices[0]
        if isinstance(target, Name | Attr | Item):
            if isinstance(target, Name) and target.id.startswith("."):
                target = Attr(Name("this"), target.id)
            self.scope.binds.append(Bind(target, value, None, node.start_point[0] + 1))
            return target if isinstance(target, Name) else None
        return self.many([target, value])

    def _binary(self, node: Node) -> Expr | None:
        before = self.counted
        operator, operands = self.operands(node)
        kind = "boolean" if operator in _COMPARES else ""
        texts = any(isinstance(o, Literal) and o.kind == "String" for o in operands)
        kind = "String" if texts and operator == "+" else kind
        if self.counted > before:
            return self.many(operands, kind)
        return Literal(kind) if kind else None

    def _operands(self, node: Node) -> Expr | None:
        return self.calls_of(node.named_children)

    def _ternary(self, node: Node) -> Expr | None:
        self.evaluate(node.child_by_field_name("condition"))
        consequence = self.expr(node.child_by_field_name("consequence"))
        return one_of([consequence, self.expr(node.child_by_field_name("alternative"))])

    def _cast(self, node: Node) -> Expr | None:
        value = self.expr(node.child_by_field_name("value"))
        return Typed(self.type(node.child_by_field_name("type")), value)

    def _instanceof(self, node: Node) -> Expr | None:
        self.evaluate(node.child_by_field_name("left"))
        name, of = node.child_by_field_name("name"), self.type(node.child_by_field_name("right"))
        if name is not None:
            self.pattern_name(name, of)
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            self.pattern(pattern)
        return _BOOL

    def pattern_name(self, name: Node, of: Expr | None) -> None:
        """Bind the variable of a pattern."""
        given = Name(self.local(name))
        self.scope.binds.append(Bind(given, None, of, name.start_point[0] + 1))

    def pattern(self, node: Node) -> None:
        """Bind the variables of a type pattern or record pattern."""
        if self.deeper(node):
            return
        if node.type in ("type_pattern", "record_pattern_component"):
            parts = [child for child in node.named_children if child.type != "modifiers"]
            if len(parts) == 2 and parts[1].type == "identifier":
                self.pattern_name(parts[1], self.type(parts[0]))
                return
        self.depth += 1
        for child in node.named_children:
            if "pattern" in child.type:
                self.pattern(child)
        self.depth -= 1

    def _index(self, node: Node) -> Expr | None:
        of = self.expr(node.child_by_field_name("array"))
        self.evaluate(node.child_by_field_name("index"))
        return Item(of)

    def _array(self, node: Node) -> Expr | None:
        return Group("l", tuple(self.expr(child) for child in node.named_children))

    def _new_array(self, node: Node) -> Expr | None:
        for child in node.named_children:
            if child.type == "dimensions_expr":
                self.evaluate(child.named_children[-1])
        of = Item(Name("[]"), None, (self.type(node.child_by_field_name("type")),))
        value = node.child_by_field_name("value")
        return Typed(of, self.calls_of([value]) if value is not None else None)
