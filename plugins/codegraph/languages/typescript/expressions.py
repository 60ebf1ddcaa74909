"""Expressions: calls, members, literals, operators, JSX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    Arg,
    Attr,
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
from plugins.codegraph.languages.typescript import (
    commonjs,
    functions,
    objects,
    prototypes,
    suites,
    types,
)
from plugins.codegraph.languages.typescript.lowering import (
    EXPRESSIONS,
    Lowering,
    last_line,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import assigned

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of_string(low: Lowering, node: Node | None) -> str | None:
    """What a string literal says, or None where it is none."""
    if node is None:
        return None
    if node.type == "string" or (node.type == "template_string" and node.named_child_count <= 1):
        if any(child.type == "template_substitution" for child in node.named_children):
            return None
        return low.text(node)[1:-1]
    return None


def _identifier(low: Lowering, node: Node) -> Expr | None:
    return low.named(low.text(node))


def _this(low: Lowering, node: Node) -> Expr | None:
    return low.named("this")


def _super(low: Lowering, node: Node) -> Expr | None:
    return Super()


def _member(low: Lowering, node: Node) -> Expr | None:
    named = node.child_by_field_name("property")
    if low.source[node.start_byte : node.end_byte] == b"module.exports":
        return Name("exports")
    low.calls += 1
    of = low.expr(node.child_by_field_name("object"))
    name = low.text(named) if named is not None else ""
    return Attr(of, name) if name and name != "prototype" else of


def _subscript(low: Lowering, node: Node) -> Expr | None:
    of = low.expr(node.child_by_field_name("object"))
    index = node.child_by_field_name("index")
    literal = text_of_string(low, index)
    if literal is not None:
        return Attr(of, literal)
    if index is not None and index.type == "number":
        return Item(of, low.text(index))
    before = low.calls
    low.keep(low.expr(index), before)
    return Item(of)


def arguments(low: Lowering, node: Node | None) -> tuple[Arg, ...]:
    """The arguments of a call; of a tagged template, the text and what stands in it."""
    if node is None:
        return ()
    if node.type == "template_string":
        inside = [low.expr(child) for child in node.named_children if child.named_child_count]
        return (Arg(Literal("TemplateStringsArray")), *(Arg(value) for value in inside))
    found: list[Arg] = []
    for child in node.named_children:
        if child.type == "comment":
            continue
        if child.type == "spread_element":
            found.append(Arg(low.expr(child.named_child(0)), spread=True))
        else:
            found.append(Arg(low.expr(child)))
    return tuple(found)


def _call(low: Lowering, node: Node) -> Expr | None:
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    if function is None:
        return None
    kind = function.type
    if kind == "import":
        return commonjs.dynamic_import(low, node, given)
    if kind == "identifier":
        special = commonjs.required(low, function, given)
        if special is not None:
            return special
    if kind == "member_expression":
        special = commonjs.then(low, function, given)
        if special is not None:
            return special
    low.calls += 1
    if suites.is_suite(low, function, given):
        return suites.suite(low, node, function, given)
    prototypes.inheritance(low, function, given)
    applied = _applied(low, function, given)
    if applied is not None:
        return applied
    return Call(low.expr(function), arguments(low, given), last_line(function))


def _applied(low: Lowering, function: Node, given: Node | None) -> Expr | None:
    """``f.call(this, x)`` and ``f.apply(null, xs)``, which call ``f`` itself."""
    named = function.child_by_field_name("property")
    of = function.child_by_field_name("object")
    if named is None or of is None or given is None or low.text(named) not in ("call", "apply"):
        return None
    first = given.named_child(0) if given.type == "arguments" else None
    if first is None or first.type not in ("this", "null", "undefined"):
        return None
    rest = arguments(low, given)[1:]
    if low.text(named) == "apply":
        rest = tuple(Arg(each.value, spread=True) for each in rest)
    return Call(low.expr(of), rest, last_line(function))


def _new(low: Lowering, node: Node) -> Expr | None:
    made = node.child_by_field_name("constructor")
    if made is None:
        return None
    low.calls += 1
    of = low.expr(made)
    given = node.child_by_field_name("type_arguments")
    if given is not None:
        of = Item(of, None, tuple(types.lower(low, child) for child in given.named_children))
    return Call(of, arguments(low, node.child_by_field_name("arguments")), line_of(made), new=True)


def _function(low: Lowering, node: Node) -> Expr | None:
    return Inner(functions.lower(low, node).number)


def _class(low: Lowering, node: Node) -> Expr | None:
    from plugins.codegraph.languages.typescript import classes

    return Inner(classes.lower(low, node, "").number)


def _object(low: Lowering, node: Node) -> Expr | None:
    return objects.lower(low, node)


def _array(low: Lowering, node: Node) -> Expr | None:
    items: list[Expr | None] = []
    for child in node.named_children:
        if child.type == "spread_element":
            items.append(Element(low.expr(child.named_child(0))))
        elif child.type != "comment":
            items.append(low.expr(child))
    return Group("l", tuple(items))


def _inside(low: Lowering, node: Node) -> Expr | None:
    """What is in parentheses, or has a ``!`` after it."""
    for child in node.named_children:
        if child.type != "comment":
            return low.expr(child)
    return None


def _await(low: Lowering, node: Node) -> Expr | None:
    return Unwrapped(low.expr(node.named_child(0)))


def _as(low: Lowering, node: Node) -> Expr | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    value = low.expr(parts[0]) if parts else None
    if len(parts) < 2 or node.type == "satisfies_expression":
        return value
    stated = types.lower(low, parts[1])
    return Typed(stated, value) if stated is not None else value


def _assertion(low: Lowering, node: Node) -> Expr | None:
    parts = node.named_children
    if len(parts) < 2:
        return None
    given = parts[0].named_child(0)
    stated = types.lower(low, given) if given is not None else None
    value = low.expr(parts[1])
    return Typed(stated, value) if stated is not None else value


def _conditional(low: Lowering, node: Node) -> Expr | None:
    before = low.calls
    low.keep(low.expr(node.child_by_field_name("condition")), before)
    choices: list[Expr | None] = []
    while True:
        choices.append(low.expr(node.child_by_field_name("consequence")))
        other = node.child_by_field_name("alternative")
        if other is None or other.type != "ternary_expression":
            choices.append(low.expr(other))
            return OneOf(tuple(choices))
        node = other
        before = low.calls
        low.keep(low.expr(node.child_by_field_name("condition")), before)


_CHOICES = frozenset({"||", "??", "&&"})


def _binary(low: Lowering, node: Node) -> Expr | None:
    """A chain of operators, which leans to the left and may be long."""
    operands: list[Expr | None] = []
    operators: set[str] = set()
    current: Node | None = node
    while current is not None and current.type == "binary_expression":
        operator = current.child_by_field_name("operator")
        operators.add(operator.type if operator is not None else "")
        operands.append(low.expr(current.child_by_field_name("right")))
        current = current.child_by_field_name("left")
    operands.append(low.expr(current))
    operands.reverse()
    if operators == {"&&"}:
        before = operands[:-1]
        low.scope.calls.extend(each for each in before if _has_call(each))
        return operands[-1]
    if operators <= _CHOICES:
        return OneOf(tuple(operands))
    kept = tuple(each for each in operands if each is not None)
    return Many(kept) if kept else None


def _has_call(value: Expr | None) -> bool:
    return value is not None and not isinstance(value, Name | Literal | Inner | Super)


def _operands(low: Lowering, node: Node) -> Expr | None:
    return Many(tuple(low.expr(child) for child in node.named_children))


def _template(low: Lowering, node: Node) -> Expr | None:
    inside = [
        low.expr(child.named_child(0))
        for child in node.named_children
        if child.type == "template_substitution"
    ]
    return Many(tuple(inside), "string")


def _sequence(low: Lowering, node: Node) -> Expr | None:
    parts = node.named_children
    for part in parts[:-1]:
        low.effect(part)
    return low.expr(parts[-1]) if parts else None


def _yield(low: Lowering, node: Node) -> Expr | None:
    value = low.expr(node.named_child(0))
    delegated = any(child.type == "*" for child in node.children)
    low.scope.yields.append(Element(value) if delegated else value)
    return None


def _literal(kind: str) -> Literal:
    return Literal(kind)


# -- JSX ------------------------------------------------------------------------------------


def _element(low: Lowering, node: Node) -> Expr | None:
    opening = node.child_by_field_name("open_tag")
    if node.type == "jsx_self_closing_element":
        opening = node
    inside = [
        low.expr(child)
        for child in node.named_children
        if child.type in ("jsx_element", "jsx_self_closing_element", "jsx_expression")
    ]
    if node.type == "jsx_self_closing_element":
        inside = []
    children = tuple(each for each in inside if each is not None)
    named = opening.child_by_field_name("name") if opening is not None else None
    if opening is None or named is None:
        return Many(children)
    properties = _attributes(low, opening)
    if children:
        properties.append(("children", children[0] if len(children) == 1 else Many(children)))
    if named.type == "identifier" and low.text(named)[:1].islower():
        return Many(tuple(value for _, value in properties))
    low.calls += 1
    of = low.expr(named)
    return Call(of, (Arg(Table(tuple(properties))),), last_line(named))


def _attributes(low: Lowering, opening: Node) -> list[tuple[str | None, Expr | None]]:
    found: list[tuple[str | None, Expr | None]] = []
    for child in opening.named_children:
        if child.type == "jsx_attribute":
            value = low.expr(child.named_child(1)) if child.named_child_count > 1 else None
            first = child.named_child(0)
            found.append((low.text(first) if first is not None else None, value))
        elif child.type == "jsx_expression":
            found.append((None, low.expr(child)))
    return found


def _first(low: Lowering, node: Node) -> Expr | None:
    return low.expr(node.named_child(0))


EXPRESSIONS.update(
    {
        "identifier": _identifier,
        "shorthand_property_identifier": _identifier,
        "undefined": lambda low, node: _literal("undefined"),
        "this": _this,
        "super": _super,
        "member_expression": _member,
        "nested_identifier": _member,
        "subscript_expression": _subscript,
        "call_expression": _call,
        "new_expression": _new,
        "arrow_function": _function,
        "function_expression": _function,
        "generator_function": _function,
        "class": _class,
        "object": _object,
        "array": _array,
        "parenthesized_expression": _inside,
        "non_null_expression": _inside,
        "instantiation_expression": _inside,
        "await_expression": _await,
        "as_expression": _as,
        "satisfies_expression": _as,
        "type_assertion": _assertion,
        "ternary_expression": _conditional,
        "binary_expression": _binary,
        "unary_expression": _operands,
        "update_expression": _operands,
        "template_string": _template,
        "sequence_expression": _sequence,
        "yield_expression": _yield,
        "assignment_expression": assigned,
        "augmented_assignment_expression": assigned,
        "string": lambda low, node: _literal("string"),
        "number": lambda low, node: _literal("number"),
        "regex": lambda low, node: _literal("RegExp"),
        "true": lambda low, node: _literal("boolean"),
        "false": lambda low, node: _literal("boolean"),
        "null": lambda low, node: _literal("null"),
        "jsx_element": _element,
        "jsx_self_closing_element": _element,
        "jsx_expression": _first,
        "spread_element": _first,
    }
)
