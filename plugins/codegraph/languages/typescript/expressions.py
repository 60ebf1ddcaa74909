"""Lowers expressions: calls, members, literals, operators, JSX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    CALLED,
    DECORATOR,
    MADE,
    PLAIN,
    RAISED,
    TARGET,
    Arg,
    Attr,
    Call,
    Element,
    Expr,
    Group,
    Inner,
    Item,
    Literal,
    Name,
    ParameterOf,
    Super,
    Typed,
    Unwrapped,
)
from plugins.codegraph.languages.typescript import (
    callbacks,
    commonjs,
    functions,
    jsx,
    objects,
    operators,
    prototypes,
    suites,
    types,
)
from plugins.codegraph.languages.typescript.lowerer import (
    EXPRESSIONS,
    FUNCTIONS,
    Lowerer,
    child_at,
    last_line,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import assigned, symbol

if TYPE_CHECKING:
    from tree_sitter import Node


def text_of_string(low: Lowerer, node: Node | None) -> str | None:
    """The value of a string literal; None for any other node."""
    if node is None:
        return None
    if node.type == "string" or (node.type == "template_string" and node.named_child_count <= 1):
        if any(child.type == "template_substitution" for child in node.named_children):
            return None
        return low.text(node)[1:-1]
    return None


def _identifier(low: Lowerer, node: Node) -> Expr | None:
    return low.value(node)


def _member(low: Lowerer, node: Node) -> Expr | None:
    named = node.child_by_field_name("property")
    if low.source[node.start_byte : node.end_byte] == b"module.exports":
        return Name("exports")
    low.calls += 1
    of = low.used(node.child_by_field_name("object"), PLAIN)
    name = low.text(named) if named is not None else ""
    if named is None or name in ("", "prototype"):
        return of
    return _read(low, Attr(of, name, line_of(named)), named, low.using)


def _subscript(low: Lowerer, node: Node) -> Expr | None:
    low.calls += 1
    how, low.using = low.using, PLAIN
    of = low.expr(node.child_by_field_name("object"))
    index = node.child_by_field_name("index")
    literal = text_of_string(low, index)
    named = literal if literal is not None else symbol(low, index)
    if named is not None and index is not None:
        return _read(low, Attr(of, named, line_of(node)), index, how)
    if index is not None and index.type == "number":
        return Item(of, low.text(index))
    before = low.calls
    low.keep(low.expr(index), before)
    return Item(of)


def _read(low: Lowerer, member: Attr, name: Node, how: str) -> Expr:
    """Note the use of a member, and lower it, unless it is read right after it was written."""
    low.noted(member, name, how)
    return member if how == TARGET else low.written.read(low.scope, member)


def arguments(low: Lowerer, node: Node | None, of: Expr | None = None) -> tuple[Arg, ...]:
    """Lower the arguments of a call; for a tagged template, the text and its substitutions."""
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
            found.append(Arg(low.expr(child_at(child)), spread=True))
        elif child.type in FUNCTIONS and not found:
            found.append(Arg(low.given(child, callbacks.expected(low, of, node))))
        elif child.type == "object" and of is not None:
            found.append(Arg(low.given(child, ParameterOf(of, len(found)))))
        else:
            found.append(Arg(low.expr(child)))
    return tuple(found)


def _call(low: Lowerer, node: Node) -> Expr | None:
    function = node.child_by_field_name("function")
    given = node.child_by_field_name("arguments")
    if function is not None and function.type == "await_expression":
        function = child_at(function)  # the grammar takes ``await f<T>(x)`` for ``(await f)<T>(x)``
    if function is None:
        return None
    kind = function.type
    if kind == "import":
        return commonjs.dynamic_import(low, node, given)
    special = _SPECIAL.get(kind)
    found = special(low, function, given) if special is not None else None
    if found is not None:
        return found
    low.calls += 1
    how = low.using if low.using in (RAISED, DECORATOR) else CALLED
    low.using = PLAIN
    stated = node.child_by_field_name("type_arguments")
    for each in stated.named_children if stated is not None else ():
        types.lower(low, each)
    if suites.is_suite(low, function, given):
        return suites.suite(low, node, function, given)
    prototypes.inheritance(low, function, given)
    of = low.written.called(low.scope, low.used(function, how))
    found = Call(of, arguments(low, given, of), last_line(function))
    objects.merged(low, found)
    return found


def _of_member(low: Lowerer, function: Node, given: Node | None) -> Expr | None:
    """Method calls that stand for another call: ``then``, ``call``, ``apply``."""
    return commonjs.then(low, function, given) or _applied(low, function, given)


_SPECIAL = {"identifier": commonjs.required, "member_expression": _of_member}
"""By the callee's node kind, the function that may lower the call in a special way."""


def _applied(low: Lowerer, function: Node, given: Node | None) -> Expr | None:
    """``f.call(this, x)`` and ``f.apply(null, xs)``, which call ``f`` itself."""
    named = function.child_by_field_name("property")
    of = function.child_by_field_name("object")
    if named is None or of is None or given is None or low.text(named) not in ("call", "apply"):
        return None
    first = child_at(given) if given.type == "arguments" else None
    if first is None or first.type not in ("this", "null", "undefined"):
        return None
    low.calls += 1
    rest = arguments(low, given)[1:]
    if low.text(named) == "apply":
        rest = tuple(Arg(each.value, spread=True) for each in rest)
    return Call(low.used(of, CALLED), rest, last_line(function))


def _new(low: Lowerer, node: Node) -> Expr | None:
    made = node.child_by_field_name("constructor")
    if made is None:
        return None
    low.calls += 1
    of = low.used(made, low.using if low.using == RAISED else MADE)
    low.using = PLAIN
    plain = of
    given = node.child_by_field_name("type_arguments")
    if given is not None:
        of = Item(of, None, tuple(types.lower(low, child) for child in given.named_children))
    inside = arguments(low, node.child_by_field_name("arguments"), plain)
    return Call(of, inside, line_of(made), new=True)


def _function(low: Lowerer, node: Node) -> Expr | None:
    return Inner(functions.lower(low, node).number)


def _class(low: Lowerer, node: Node) -> Expr | None:
    from plugins.codegraph.languages.typescript import classes

    return Inner(classes.lower(low, node, "").number)


def _array(low: Lowerer, node: Node) -> Expr | None:
    items: list[Expr | None] = []
    for child in node.named_children:
        if child.type == "spread_element":
            items.append(Element(low.expr(child_at(child))))
        elif child.type != "comment":
            items.append(low.expr(child))
    return Group("l", tuple(items))


def _inside(low: Lowerer, node: Node) -> Expr | None:
    """Lower the expression in parentheses, or before a ``!``."""
    for child in node.named_children:
        if child.type != "comment":
            return low.expr(child)
    return None


def _as(low: Lowerer, node: Node) -> Expr | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    stated = types.lower(low, parts[1]) if len(parts) > 1 else None
    value = low.given(parts[0], stated) if parts else None
    if len(parts) < 2 or node.type == "satisfies_expression":
        return value
    return Typed(stated, value) if stated is not None else value


def _assertion(low: Lowerer, node: Node) -> Expr | None:
    parts = node.named_children
    if len(parts) < 2:
        return None
    given = child_at(parts[0])
    stated = types.lower(low, given) if given is not None else None
    value = low.expr(parts[1])
    return Typed(stated, value) if stated is not None else value


def _first(low: Lowerer, node: Node) -> Expr | None:
    return low.expr(child_at(node))


EXPRESSIONS.update(
    {
        "identifier": _identifier,
        "shorthand_property_identifier": _identifier,
        "undefined": lambda low, node: Literal("undefined"),
        "this": lambda low, node: low.named("this"),
        "super": lambda low, node: Super(),
        "member_expression": _member,
        "nested_identifier": _member,
        "subscript_expression": _subscript,
        "call_expression": _call,
        "new_expression": _new,
        "arrow_function": _function,
        "function_expression": _function,
        "generator_function": _function,
        "class": _class,
        "object": objects.lower,
        "array": _array,
        "parenthesized_expression": _inside,
        "non_null_expression": _inside,
        "instantiation_expression": _inside,
        "await_expression": lambda low, node: Unwrapped(low.expr(child_at(node))),
        "as_expression": _as,
        "satisfies_expression": _as,
        "type_assertion": _assertion,
        "ternary_expression": operators.conditional,
        "binary_expression": operators.binary,
        "unary_expression": operators.operands,
        "update_expression": operators.operands,
        "template_string": operators.template,
        "sequence_expression": operators.sequence,
        "yield_expression": operators.yielded,
        "assignment_expression": assigned,
        "augmented_assignment_expression": assigned,
        "string": lambda low, node: Literal("string"),
        "number": lambda low, node: Literal("number"),
        "regex": lambda low, node: Literal("RegExp"),
        "true": lambda low, node: Literal("boolean"),
        "false": lambda low, node: Literal("boolean"),
        "null": lambda low, node: Literal("null"),
        "jsx_element": jsx.element,
        "jsx_self_closing_element": jsx.element,
        "jsx_expression": _first,
        "spread_element": _first,
    }
)
