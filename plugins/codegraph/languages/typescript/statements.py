"""Lowers statements: declarations, control flow, and blocks with bindings of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.codegraph.facts import RAISED, Expr, GuardedBy, Name
from plugins.codegraph.languages.typescript import (
    classes,
    commonjs,
    declarations,
    functions,
    interfaces,
    types,
)
from plugins.codegraph.languages.typescript.lowerer import (
    STATEMENTS,
    Lowerer,
    child_at,
    line_of,
)
from plugins.codegraph.languages.typescript.patterns import (
    declared,
    defined,
    loop_value,
    names_of,
    target,
)
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node


def _expression(low: Lowerer, node: Node) -> None:
    inside = child_at(node)
    if inside is not None and inside.type == "internal_module":
        interfaces.namespace(low, inside)
        return
    before = len(low.scope.binds)
    low.effect(inside)
    if inside is None or inside.type != "assignment_expression":
        return
    left = inside.child_by_field_name("left")
    of = left.child_by_field_name("object") if left is not None else None
    if of is not None:
        low.written.statement(low.scope, low.scope.binds[before:], low.text(of))
    elif left is not None and left.type == "identifier":
        low.written.variable(low.scope, low.scope.binds[before:])


def _function(low: Lowerer, node: Node) -> None:
    named = node.child_by_field_name("name")
    name = low.text(named) if named is not None else "default"
    declarations.function(low, node, name, node)


def _signature(low: Lowerer, node: Node) -> None:
    """Lower an overload or an ambient function; a definition with a body takes precedence."""
    named = node.child_by_field_name("name")
    name = low.text(named) if named is not None else ""
    if (low.scope.number, name) in low.implemented:
        return
    low.implemented.add((low.scope.number, name))
    doc = low.doc
    definition = functions.define(low, node, EntityKind.FUNCTION, name)
    low.doc = doc
    functions.lower(low, node, definition, name).modifiers.append("signature")


def _class(low: Lowerer, node: Node) -> None:
    scope = classes.lower(low, node, "")
    low.classes[low.scope.number, scope.name] = scope


def _block(low: Lowerer, node: Node) -> None:
    low.env = _opened(low, node.named_children)
    low.push(node.children)


def _opened(low: Lowerer, inside: list[Node]) -> dict[str, str]:
    """The renamings for a block of these statements."""
    env = _fresh(low, declared(low, inside))
    low.definitions.update(env[name] for name in defined(low, inside))
    return env


def _fresh(low: Lowerer, names: set[str]) -> dict[str, str]:
    """The renamings for a block that binds these names."""
    if not names:
        return low.env
    return {**low.env, **{name: low.fresh(name) for name in sorted(names)}}


def _if(low: Lowerer, node: Node) -> None:
    condition = node.child_by_field_name("condition")
    low.effect(condition)
    other = node.child_by_field_name("alternative")
    if other is not None:
        low.push(other.named_children)
    then = node.child_by_field_name("consequence")
    if then is None:
        return
    outer = low.env
    for name, of in _narrowed(low, condition):
        new = low.fresh(name)
        low.bind(Name(new), low.named(name), line_of(node), of)
        low.env = {**low.env, name: new}
    low.push([then])
    low.env = outer


def _narrowed(low: Lowerer, condition: Node | None) -> list[tuple[str, Expr]]:
    """The names narrowed by ``x instanceof Foo`` and ``isFoo(x)``, with their types."""
    found: list[tuple[str, Expr]] = []
    stack = [condition] if condition is not None else []
    while stack:
        node = stack.pop()
        if node.type == "parenthesized_expression":
            stack.extend(node.named_children[:1])
        elif node.type == "call_expression":
            found += _guarded(low, node)
        elif node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type == "&&":
                stack.extend(node.named_children)
            elif operator is not None and operator.type == "instanceof":
                found += _tested(low, node)
    return found


def _tested(low: Lowerer, node: Node) -> list[tuple[str, Expr]]:
    """The name narrowed by ``x instanceof Foo``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type != "identifier":
        return []
    of = low.expr(right) if right.type in ("identifier", "member_expression") else None
    return [(low.text(left), of)] if of is not None else []


def _guarded(low: Lowerer, call: Node) -> list[tuple[str, Expr]]:
    """The name narrowed by ``isFoo(x)``; the linker decides whether that is a type guard."""
    function, given = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    asked = child_at(given) if given is not None else None
    if function is None or function.type not in ("identifier", "member_expression"):
        return []
    if low.javascript or asked is None or asked.type != "identifier":
        return []
    of = low.expr(function)
    return [(low.text(asked), GuardedBy(of))] if of is not None else []


def _for(low: Lowerer, node: Node) -> None:
    first = node.child_by_field_name("initializer")
    outer = low.env
    if first is not None:
        low.env = _opened(low, [first])
    body = node.child_by_field_name("body")
    parts = [first, node.child_by_field_name("condition"), node.child_by_field_name("increment")]
    for part in reversed([part for part in [*parts, body] if part is not None]):
        low.push([part])
    low.env = outer


def _for_in(low: Lowerer, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    kind = node.child_by_field_name("kind")
    over = low.expr(right)
    outer = low.env
    if kind is not None and kind.type in ("let", "const"):
        low.env = _fresh(low, {name for name, _ in names_of(low, left)})
    elif kind is not None:
        low.scope.modifiers += [f"local:{name}" for name, _ in names_of(low, left)]
    bound = target(low, left)
    value = loop_value(low, node, over)
    if bound is not None and value is not None:
        low.bind(bound, value, line_of(node))
    elif over is not None:
        low.scope.calls.append(over)
    body = node.child_by_field_name("body")
    if body is not None:
        low.push([body])
    low.env = outer


def _try(low: Lowerer, node: Node) -> None:
    handler = node.child_by_field_name("handler")
    parts = [node.child_by_field_name("body"), handler, node.child_by_field_name("finalizer")]
    low.push([part for part in parts if part is not None])


def _catch(low: Lowerer, node: Node) -> None:
    given = node.child_by_field_name("parameter")
    outer = low.env
    bound = list(names_of(low, given))
    for _, at in bound:
        low.noted_local(at)
    low.env = _fresh(low, {name for name, _ in bound})
    body = node.child_by_field_name("body")
    if body is not None:
        low.push([body])
    low.env = outer


def _throw(low: Lowerer, node: Node) -> None:
    before = low.calls
    low.keep(low.used(child_at(node), RAISED), before)


def _return(low: Lowerer, node: Node) -> None:
    for child in node.named_children:
        if child.type != "comment":
            low.scope.results.append(low.expr(child))
            return


def _inside(low: Lowerer, node: Node) -> None:
    """Lower a statement whose parts need no special treatment."""
    low.push(node.children)


def _switch_body(low: Lowerer, node: Node) -> None:
    inside = [each for case in node.named_children for each in case.named_children]
    low.env = _opened(low, inside)
    low.push(node.children)


def _label(low: Lowerer, node: Node) -> None:
    body = node.child_by_field_name("body")
    if body is not None:
        low.push([body])


def _nothing(low: Lowerer, node: Node) -> None:
    pass


def _dated(low: Lowerer, node: Node) -> None:
    interfaces.interface(low, node)


STATEMENTS.update(
    {
        "expression_statement": _expression,
        "function_declaration": _function,
        "generator_function_declaration": _function,
        "function_signature": _signature,
        "class_declaration": _class,
        "abstract_class_declaration": _class,
        "interface_declaration": _dated,
        "type_alias_declaration": lambda low, node: void(interfaces.alias(low, node)),
        "enum_declaration": lambda low, node: void(interfaces.enum(low, node)),
        "internal_module": lambda low, node: void(interfaces.namespace(low, node)),
        "module": lambda low, node: void(interfaces.namespace(low, node)),
        "ambient_declaration": _inside,
        "lexical_declaration": declarations.variables,
        "variable_declaration": declarations.variables,
        "statement_block": _block,
        "if_statement": _if,
        "else_clause": _inside,
        "for_statement": _for,
        "for_in_statement": _for_in,
        "while_statement": _inside,
        "do_statement": _inside,
        "switch_statement": _inside,
        "switch_body": _switch_body,
        "switch_case": _inside,
        "switch_default": _inside,
        "try_statement": _try,
        "catch_clause": _catch,
        "finally_clause": _inside,
        "labeled_statement": _label,
        "return_statement": _return,
        "throw_statement": _throw,
        "with_statement": _inside,
        "ERROR": _inside,
        "empty_statement": _nothing,
        "break_statement": _nothing,
        "continue_statement": _nothing,
        "import_alias": lambda low, node: declarations.import_alias(low, node),
        "hash_bang_line": _nothing,
        "string": _nothing,
    }
)


def void(_: object) -> None:
    """Adapts a lowering function with a result to a statement handler."""


__all__ = ["commonjs", "types"]
