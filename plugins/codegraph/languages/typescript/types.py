"""Lowers types: annotations, generics, unions, object and function types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    AS_TYPE,
    BASE,
    PLAIN,
    Attr,
    Call,
    Expr,
    Group,
    Inner,
    Item,
    Literal,
    Name,
    OneOf,
)
from plugins.codegraph.languages.typescript.lowerer import Lowerer, child_at, line_of

if TYPE_CHECKING:
    from tree_sitter import Node

_NOTHING = frozenset({"any", "unknown", "void", "never", "object", "undefined", "null"})
_MAX_DEPTH = 40


def annotated(low: Lowerer, node: Node | None) -> Expr | None:
    """Lower the type in an annotation (``: T``); a guard (``x is T``) is a boolean."""
    if node is None:
        return None
    if node.type == "type_predicate_annotation":
        said = child_at(node)
        of = lower(low, said.child_by_field_name("type")) if said is not None else None
        return Item(Name("Guard"), None, (of,)) if of is not None else Literal("boolean")
    if node.type == "asserts_annotation":
        return None
    if node.type == "type_annotation":
        inside = node.named_children
        return lower(low, inside[-1]) if inside else None
    return lower(low, node)


def lower(low: Lowerer, node: Node | None, depth: int = 0) -> Expr | None:
    """Lower a type to an expression that is evaluated as a type; None where it is unknown."""
    if node is None or depth > _MAX_DEPTH:
        return None
    handler = _TYPES.get(node.type)
    if handler is None:
        _unknown(low, node, depth)
        return None
    using = low.using
    low.using = using if using == BASE else AS_TYPE
    found = handler(low, node, depth + 1)
    low.using = using
    return found


def base(low: Lowerer, node: Node) -> Expr | None:
    """Lower a type that another one extends or implements."""
    using, low.using = low.using, BASE
    found = lower(low, node)
    low.using = using
    return found


def _unknown(low: Lowerer, node: Node, depth: int) -> None:
    """Note the names in a type that means nothing to the linker, such as a conditional one."""
    for child in node.named_children:
        lower(low, child, depth + 1)


def _named(low: Lowerer, node: Node, depth: int) -> Expr | None:
    return low.noted(Name(low.text(node)), node)


def _nested(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """``ns.Q``, ``import("./x").Q``."""
    of = node.child_by_field_name("module") or node.child_by_field_name("object")
    named = node.child_by_field_name("name") or node.child_by_field_name("property")
    if of is None or named is None:
        return None
    if of.type == "call_expression":
        from plugins.codegraph.languages.typescript import commonjs

        module = commonjs.literal_argument(low, of)
        inner: Expr | None = low.whole(module, line_of(of)) if module else None
    else:
        using, low.using = low.using, PLAIN
        inner = lower(low, of, depth)
        low.using = using
    return low.noted(Attr(inner, low.text(named)), named) if inner is not None else None


def _predefined(low: Lowerer, node: Node, depth: int) -> Expr | None:
    kind = low.text(node)
    return None if kind in _NOTHING else Literal(kind)


def _generic(low: Lowerer, node: Node, depth: int) -> Expr | None:
    of = lower(low, node.child_by_field_name("name"), depth)
    given = node.child_by_field_name("type_arguments")
    if of is None or given is None:
        return of
    inside = [child for child in given.named_children if child.type != "comment"]
    low.using = AS_TYPE
    args = tuple(lower(low, child, depth) for child in inside)
    if isinstance(of, Name) and of.id in ("ReturnType", "InstanceType") and len(args) == 1:
        return _derived(of.id, args[0])
    return Item(of, None, args)


def _derived(name: str, of: Expr | None) -> Expr | None:
    """``InstanceType<typeof X>`` is X, ``ReturnType<typeof f>`` the result of calling f."""
    if name == "ReturnType":
        return Call(of, (), 0)
    if isinstance(of, Item) and of.of == Name(TYPEOF) and of.args:
        return of.args[0]
    return of


TYPEOF = "typeof"
"""The generic type that ``typeof x`` is lowered to; its argument is a value, not a type."""


def _tuple(low: Lowerer, node: Node, depth: int) -> Expr | None:
    return Group("t", tuple(lower(low, child, depth) for child in node.named_children))


def _union(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """Lower a union, which nests to the left; ``null`` and the like are left out."""
    members: list[Node] = []
    current: Node = node
    while current.type == node.type:
        inside = current.named_children
        members.extend(reversed(inside[1:]))
        if not inside:
            break
        current = inside[0]
    members.append(current)
    kept = [child for child in reversed(members) if not _is_nothing(low, child)]
    choices = tuple(lower(low, child, depth) for child in kept)
    if node.type == "intersection_type":
        choices = tuple(each for each in choices if each is not None)
    if len(choices) == 1:
        return choices[0]
    return OneOf(choices) if choices else None


def _is_nothing(low: Lowerer, node: Node) -> bool:
    if node.type not in ("literal_type", "predefined_type", "comment"):
        return False
    return node.type == "comment" or low.text(node) in _NOTHING


def _literal(low: Lowerer, node: Node, depth: int) -> Expr | None:
    inside = child_at(node)
    kind = inside.type if inside is not None else ""
    if kind in ("string", "number"):
        return Literal(kind)
    return Literal("boolean") if kind in ("true", "false") else None


def _inside(low: Lowerer, node: Node, depth: int) -> Expr | None:
    return lower(low, child_at(node), depth)


def _last(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """Lower ``readonly T[]``, or an optional or rest member of a tuple: the type is the last
    child."""
    inside = node.named_children
    return lower(low, inside[-1], depth) if inside else None


def _query(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """``typeof x``: the type of a value."""
    inside = child_at(node)
    if inside is None:
        return None
    if inside.type == "call_expression":
        from plugins.codegraph.languages.typescript import commonjs

        module = commonjs.literal_argument(low, inside)
        value: Expr | None = low.whole(module, line_of(inside)) if module else None
    else:
        value = low.used(inside, AS_TYPE)
    if value is None:
        return None
    shown = value.name if isinstance(value, Attr) else getattr(value, "id", "")
    return Item(Name(TYPEOF), None, (value,)) if _is_class_name(shown) else value


def _is_class_name(name: str) -> bool:
    """Whether a name is spelled like a class: ``typeof Foo`` is then the class itself."""
    return name[:1].isupper() and not name.isupper()


def _lookup(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """``Foo["bar"]``: the type of a member."""
    inside = node.named_children
    of = lower(low, inside[0], depth) if inside else None
    if of is None or len(inside) < 2 or inside[1].type != "literal_type":
        return None
    key = child_at(inside[1])
    if key is None or key.type != "string":
        return None
    return Attr(of, low.text(key)[1:-1])


def _object(low: Lowerer, node: Node, depth: int) -> Expr | None:
    from plugins.codegraph.languages.typescript import interfaces

    inside = [child for child in node.named_children if child.type != "comment"]
    if len(inside) == 1 and inside[0].type == "index_signature":
        held = annotated(low, inside[0].child_by_field_name("type"))
        return Item(Name("Record"), None, (Literal("string"), held))
    scope = low.builder.scope("class", -1, low.scope)
    scope.modifiers.append("interface")
    low.later(scope, lambda: interfaces.members(low, node))
    return Inner(scope.number)


def _function(low: Lowerer, node: Node, depth: int) -> Expr | None:
    """Lower a function type: its parameters' types and its result. ``new () => T`` is a class."""
    if node.type == "constructor_type":
        made = lower(low, node.child_by_field_name("type"), depth)
        return Item(Name("Constructor"), None, (made,)) if made is not None else None
    given = node.child_by_field_name("parameters")
    inside = given.named_children if given is not None else []
    stated = [annotated(low, child.child_by_field_name("type")) for child in inside]
    result = annotated(low, node.child_by_field_name("return_type"))
    return Item(Name("Callable"), None, (Group("t", tuple(stated)), result))


_TYPES: dict[str, Callable[[Lowerer, Node, int], Expr | None]] = {
    "type_identifier": _named,
    "identifier": _named,
    "property_identifier": _named,
    "this_type": lambda low, node, depth: Name("this"),
    "this": lambda low, node, depth: Name("this"),
    "nested_type_identifier": _nested,
    "nested_identifier": _nested,
    "member_expression": _nested,
    "predefined_type": _predefined,
    "generic_type": _generic,
    "array_type": lambda low, node, depth: Item(
        Name("Array"), None, (lower(low, child_at(node), depth),)
    ),
    "tuple_type": _tuple,
    "union_type": _union,
    "intersection_type": _union,
    "literal_type": _literal,
    "template_literal_type": lambda low, node, depth: Literal("string"),
    "index_type_query": lambda low, node, depth: Literal("string"),
    "parenthesized_type": _inside,
    "readonly_type": _last,
    "optional_type": _inside,
    "rest_type": _inside,
    "optional_parameter": _last,
    "required_parameter": _last,
    "type_annotation": _last,
    "type_query": _query,
    "lookup_type": _lookup,
    "constraint": _last,
    "default_type": _last,
    "object_type": _object,
    "function_type": _function,
    "constructor_type": _function,
}
