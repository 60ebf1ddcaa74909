"""Lowers binding targets: names, members, and destructuring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from plugins.codegraph.facts import (
    PLAIN,
    TARGET,
    Attr,
    Element,
    Expr,
    Group,
    Item,
    Many,
    Name,
    Table,
)
from plugins.codegraph.languages.typescript.lowerer import (
    CLASSES,
    FUNCTIONS,
    Lowerer,
    child_at,
    line_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_SYMBOL = re.compile(r"Symbol\.\w+|k[A-Z]\w*|\w*[sS]ymbol\w*|SYM\w*")
_MAX_DEPTH = 40
_AROUND_A_VALUE = frozenset({"parenthesized_expression", "assignment_expression"})
_DEFAULTS = frozenset({"assignment_pattern", "object_assignment_pattern"})


def names_of(low: Lowerer, pattern: Node | None) -> Iterator[tuple[str, Node]]:
    """The names that a pattern binds, with their nodes."""
    stack = [pattern] if pattern is not None else []
    while stack:
        node = stack.pop()
        kind = node.type
        if kind in _NAMES:
            yield low.text(node), node
        elif kind in _DEFAULTS:
            left = node.child_by_field_name("left")
            stack.extend([left] if left is not None else [])
        elif kind == "pair_pattern":
            value = node.child_by_field_name("value")
            stack.extend([value] if value is not None else [])
        elif kind in ("object_pattern", "array_pattern", "rest_pattern"):
            stack.extend(reversed(node.named_children))


def declared(low: Lowerer, nodes: list[Node]) -> set[str]:
    """The names bound by ``let`` and ``const`` among these statements."""
    patterns = (each.child_by_field_name("name") for each in _declarators(nodes))
    return {name for pattern in patterns for name, _ in names_of(low, pattern)}


def defined(low: Lowerer, nodes: list[Node]) -> set[str]:
    """Those of the names whose values are functions or classes, which are entities."""
    found: set[str] = set()
    for each in _declarators(nodes):
        name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
        while value is not None and value.type in _AROUND_A_VALUE:
            inside = value.named_children
            value = inside[-1] if inside else None
        if name is not None and value is not None and value.type in FUNCTIONS | CLASSES:
            found.update(text for text, _ in names_of(low, name))
    return found


def _declarators(nodes: list[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.type == "lexical_declaration":
            yield from (
                child for child in node.named_children if child.type == "variable_declarator"
            )


def target(low: Lowerer, node: Node | None, depth: int = 0) -> Expr | None:
    """Lower a pattern to a binding target. Defaults are bound immediately, as further values."""
    if node is None or depth > _MAX_DEPTH:
        return None
    kind = node.type
    if kind in _NAMES:
        return _name(low, node)
    if kind in _DEFAULTS:
        bound = target(low, node.child_by_field_name("left"), depth + 1)
        before = low.calls
        value = low.expr(node.child_by_field_name("right"))
        if isinstance(bound, Name) and value is not None:
            low.bind(bound, value, line_of(node))
        else:
            low.keep(value, before)
        return bound
    if kind == "object_pattern":
        return Table(tuple(_entries(low, node, depth + 1)))
    if kind == "array_pattern":
        return Group("l", tuple(_positions(low, node, depth + 1)))
    if kind in ("member_expression", "subscript_expression"):
        return low.used(node, TARGET)
    return None


def _name(low: Lowerer, node: Node) -> Expr:
    """A name that is bound; one that is a definition is no use of it."""
    if low.defining:
        return low.named(low.text(node))
    using, low.using = low.using, TARGET
    found = low.value(node)
    low.using = using
    return found


def _entries(low: Lowerer, node: Node, depth: int) -> Iterator[tuple[str | None, Expr | None]]:
    for child in node.named_children:
        kind = child.type
        if kind == "pair_pattern":
            key = child.child_by_field_name("key")
            yield key_of(low, key), target(low, child.child_by_field_name("value"), depth)
        elif kind == "rest_pattern":
            yield None, target(low, child_at(child), depth)
        elif kind == "object_assignment_pattern":
            left = child.child_by_field_name("left")
            yield low.text(left) if left is not None else None, target(low, child, depth)
        elif kind in _NAMES:
            yield low.text(child), target(low, child, depth)


def _positions(low: Lowerer, node: Node, depth: int) -> Iterator[Expr | None]:
    """The targets at each position of an array pattern; None for a hole."""
    filled = False
    for child in node.children:
        if child.type == ",":
            if not filled:
                yield None
            filled = False
        elif child.is_named and child.type != "comment":
            filled = True
            yield None if child.type == "rest_pattern" else target(low, child, depth)


def note_members(low: Lowerer, pattern: Node | None, of: Expr | None) -> None:
    """Note the members that a pattern names, as uses of members of what it takes apart.

    Where ``{ field }`` names a variable too, the place has two uses; the second one is noted by
    the offset before it, which is no name's.
    """
    if pattern is None or pattern.type != "object_pattern" or of is None:
        return
    for child in pattern.named_children:
        key = child
        if child.type in ("pair_pattern", "object_assignment_pattern"):
            key = child.child_by_field_name("key") or child.child_by_field_name("left") or child
        if key.type in (*_NAMES, "property_identifier"):
            line = key.start_point[0] + low.row
            start = low.base + key.start_byte - (key.type in _NAMES)
            low.note(low.scope, Attr(of, low.text(key)), start, line, PLAIN)


def key_of(low: Lowerer, node: Node | None) -> str | None:
    """The name of a member as written; None if it is computed."""
    if node is None:
        return None
    kind = node.type
    if kind == "string":
        return low.text(node)[1:-1]
    if kind == "computed_property_name":
        inside = child_at(node)
        if inside is not None and inside.type == "string":
            return low.text(inside)[1:-1]
        return symbol(low, inside)
    return low.text(node)


def symbol(low: Lowerer, node: Node | None) -> str | None:
    """The member name for a symbol key: ``[Symbol.iterator]``, ``[kClose]``; None for any other
    computed key. Symbols are recognised by naming convention."""
    if node is None or node.type not in ("identifier", "member_expression"):
        return None
    shown = low.text(node)
    return f"[{shown}]" if _SYMBOL.fullmatch(shown) else None


def assigned(low: Lowerer, node: Node) -> Expr | None:
    """Lower an assignment: binds the target, and returns the assigned value."""
    from plugins.codegraph.languages.typescript import commonjs

    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return None
    if node.type == "augmented_assignment_expression":
        operator = node.child_by_field_name("operator")
        if operator is None or operator.type not in ("||=", "??=", "&&="):
            operands = Many((low.used(left, TARGET), low.expr(right)))
            low.written.forget()
            return operands
    if left.type == "parenthesized_expression":
        left = child_at(left) or left
    _note_repeated(low, node, left)
    if commonjs.assigned(low, node, left, right):
        low.written.forget()
        return None
    to = target(low, left)
    value = low.given(right, to if isinstance(to, Attr) else None)
    low.written.assigned(to)
    if to is None:
        return value
    low.bind(to, value, line_of(node))
    note_members(low, left, value)
    simple = isinstance(to, Name) or right.type not in FUNCTIONS | CLASSES
    return to if simple and not isinstance(to, Table | Group | Item) else None


def _note_repeated(low: Lowerer, node: Node, left: Node) -> None:
    """Note that a member is assigned within a loop: what stands before may run after it."""
    named = left.child_by_field_name("property") or left.child_by_field_name("index")
    around = node.parent if named is not None else None
    while around is not None and around.type not in FUNCTIONS and around.type not in CLASSES:
        if around.type in _LOOPS and named is not None:
            name = low.text(named)
            low.scope.modifiers.append(f"repeated:{name.strip(_QUOTES)}")
            return
        around = around.parent


_LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_QUOTES = "\"'`"


def loop_value(low: Lowerer, node: Node, over: Expr | None) -> Expr | None:
    """The value of a ``for`` loop's variable."""
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "in":
        return None
    return Element(over)
