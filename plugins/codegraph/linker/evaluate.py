"""Evaluates expressions to their possible values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.codegraph.facts import (
    Attr,
    Call,
    Element,
    Expr,
    Group,
    GuardedBy,
    Inner,
    Item,
    Literal,
    Many,
    Name,
    OneOf,
    ParameterOf,
    Super,
    Table,
    Typed,
    Unwrapped,
)
from plugins.codegraph.linker import contextual, members, names, overloads, results, types, writes
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    INFERRED,
    MAX_ITEMS,
    NOTHING,
    SCOPE,
    Class,
    External,
    Func,
    Instance,
    Record,
    Some,
    Thing,
    Tuple,
    Values,
    add,
    inside,
    outside,
)


def evaluate(engine: Engine, index: FileIndex, number: int, expr: Expr | None) -> Values:
    """The possible values of an expression in scope ``number``; empty where they are unknown."""
    if expr is None:
        return NOTHING
    return _KINDS[type(expr)](engine, index, number, expr)


def _attr(engine: Engine, index: FileIndex, number: int, expr: Attr, kept: bool = False) -> Values:
    if type(expr.of) is Super:
        return members.inherited(engine, index, number, expr.name)
    found = member(engine, index, evaluate(engine, index, number, expr.of), expr.name)
    if expr.name in index.puts and type(expr.of) is Name:
        found = dict(found)
        add(found, writes.written(engine, index, number, expr.of, expr, kept=kept))
    return found


def kept(engine: Engine, index: FileIndex, number: int, expr: Expr) -> Values:
    """The possible values of an expression that a variable is given."""
    if type(expr) is Attr:
        return _attr(engine, index, number, expr, True)
    return evaluate(engine, index, number, expr)


def member(engine: Engine, index: FileIndex, values: Values, name: str) -> Values:
    """The member ``name`` of any of these values."""
    if len(values) == 1:
        ((value, rank),) = values.items()
        return members.member(engine, index, value, rank, name)
    found: Values = {}
    for value, rank in values.items():
        add(found, members.member(engine, index, value, rank, name))
    return found


def _call(engine: Engine, index: FileIndex, number: int, expr: Call) -> Values:
    idle = engine.solver.idle
    if idle:
        known: Values | None = index.known.get(id(expr))
        if known is not None:
            return known
    found: Values = {}
    callees = evaluate(engine, index, number, expr.of)
    if len(callees) > 1:
        callees = overloads.chosen(engine, index, number, callees, expr)
    for value, rank in callees.items():
        add(found, results.called(engine, index, number, value, rank, expr))
    if idle:
        index.known[id(expr)] = found
    return found


def _item(engine: Engine, index: FileIndex, number: int, expr: Item) -> Values:
    found: Values = {}
    applied: tuple[Some, ...] | None = None
    for value, rank in evaluate(engine, index, number, expr.of).items():
        if isinstance(value, Class | External):
            if applied is None:
                applied = tuple(types.argument(engine, index, number, each) for each in expr.args)
            if isinstance(value, Class):
                found[Class(value.path, value.scope, applied)] = rank
            else:
                found[External(value.name, applied)] = rank
        else:
            add(found, _subscript(engine, index, value, rank, expr.key))
    return found


def _parameter_of(engine: Engine, index: FileIndex, number: int, expr: ParameterOf) -> Values:
    of = evaluate(engine, index, number, expr.of)
    return contextual.parameter(engine, index, of, expr.place)


def _guarded_by(engine: Engine, index: FileIndex, number: int, expr: GuardedBy) -> Values:
    return contextual.guarded(engine, evaluate(engine, index, number, expr.of))


def subscript(engine: Engine, index: FileIndex, values: Values, key: str | None) -> Values:
    """The possible values of ``value[key]``; ``key`` None stands for any key."""
    found: Values = {}
    for value, rank in values.items():
        add(found, _subscript(engine, index, value, rank, key))
    return found


def _subscript(engine: Engine, index: FileIndex, value: Any, rank: int, key: str | None) -> Values:
    kind = type(value)
    if key is not None and ":" in key and kind is not Record:
        return _sliced(index, value, rank, key)
    if kind is Tuple:
        return _of_group(value, rank, key)
    if kind is Record:
        parts = [part for own, part in value.items if key is None or own is None or own == key]
        return dict.fromkeys([each for part in parts for each in part], rank)
    if kind is Thing:
        return _item_of_thing(index, value, rank, key)
    if kind is Instance:
        by_method = index.rules.subscript
        found = by_method and results.of_method(engine, index, value, rank, by_method)
        return found or subscript(
            engine, index, members.as_container(engine, index, value, rank), key
        )
    return NOTHING


def _item_of_thing(index: FileIndex, value: Thing, rank: int, key: str | None) -> Values:
    container = index.rules.containers.get(value.name)
    if container is None:
        return {Thing(""): rank}
    if key is not None and value.name in ("tuple", "Tuple") and key.isdigit():
        return _of_group(Tuple("t", value.args), rank, key)
    if container.item < len(value.args):
        return outside(value.args[container.item], rank)
    return NOTHING


def _sliced(index: FileIndex, value: Any, rank: int, key: str) -> Values:
    """A slice of a sequence; exact for a literal sequence with literal bounds."""
    if isinstance(value, Tuple) and value.kind != "c":
        start, _, rest = key.partition(":")
        stop, _, step = rest.partition(":")
        bounds = [each for each in (start, stop, step) if each]
        if all(each.lstrip("-").isdigit() for each in bounds) and step != "0":
            part = slice(*(int(each) if each else None for each in (start, stop, step)))
            return {Tuple(value.kind, value.items[part]): rank}
        return {Tuple("c", value.items): rank}
    if isinstance(value, Thing):
        container = index.rules.containers.get(value.name)
        if container is not None and container.key >= 0 and container.item < len(value.args):
            return outside(value.args[container.item], rank)
    return {value: rank}


def _of_group(value: Tuple, rank: int, key: str | None) -> Values:
    if key is not None and value.kind != "c" and key.lstrip("-").isdigit():
        place = int(key)
        if -len(value.items) <= place < len(value.items):
            return outside(value.items[place], rank)
        if value.kind == "t":
            return NOTHING
    return dict.fromkeys([each for part in value.items for each in part], rank)


def _element(engine: Engine, index: FileIndex, number: int, expr: Element) -> Values:
    return elements(engine, index, evaluate(engine, index, number, expr.of), expr.pair)


def elements(engine: Engine, index: FileIndex, values: Values, pair: int) -> Values:
    """What iterating over these values gives; ``pair`` as in ``facts.Element``."""
    found: Values = {}
    for value, rank in values.items():
        add(found, _elements(engine, index, value, rank, pair))
    return found


def _elements(engine: Engine, index: FileIndex, value: Any, rank: int, pair: int) -> Values:
    kind = type(value)
    if kind is Tuple:
        return NOTHING if pair == 0 else _of_group(value, rank, None)
    if kind is Record:
        return NOTHING if pair != 1 else _subscript(engine, index, value, rank, None)
    if kind is Thing:
        return _elements_of_thing(index, value, rank, pair)
    if kind is Instance:
        return members.iterated(engine, index, value, rank)
    if kind is External:
        return {Thing(""): rank}
    if kind is Class:
        return members.enumerated(engine, value, rank)
    return NOTHING


def _elements_of_thing(index: FileIndex, value: Thing, rank: int, pair: int) -> Values:
    container = index.rules.containers.get(value.name)
    if container is None:
        return {Thing(""): rank}
    if container.pairs and pair < 0 and len(value.args) > 1:
        return {Tuple("t", (value.args[container.key], value.args[container.item])): rank}
    place = container.element
    if pair >= 0:
        place = container.item if pair else container.key
    if 0 <= place < len(value.args):
        return outside(value.args[place], rank)
    return NOTHING


def _unwrapped(engine: Engine, index: FileIndex, number: int, expr: Unwrapped) -> Values:
    found: Values = {}
    enters = index.rules.enters.get(expr.how, "")
    for value, rank in evaluate(engine, index, number, expr.of).items():
        if isinstance(value, Thing):
            add(found, _unwrapped_thing(index, value, rank, bool(enters)))
        elif isinstance(value, Instance) and enters:
            entered = results.of_method(engine, index, value, rank, enters)
            add(found, entered)
        else:
            found[value] = rank
    return found


def _unwrapped_thing(index: FileIndex, value: Thing, rank: int, enters: bool) -> Values:
    place = index.rules.unwraps.get(value.name)
    if place is None and enters and value.name in index.rules.containers:
        place = 0
    if place is None:
        return {value: rank}
    if -len(value.args) <= place < len(value.args):
        return outside(value.args[place], rank)
    return {Thing(""): rank}


def _group(engine: Engine, index: FileIndex, number: int, expr: Group) -> Values:
    parts = [inside(evaluate(engine, index, number, each)) for each in expr.items]
    if len(parts) > MAX_ITEMS:
        return {Thing("list", (merged(parts),)): SCOPE}
    return {Tuple(expr.kind, tuple(parts)): SCOPE}


def _table(engine: Engine, index: FileIndex, number: int, expr: Table) -> Values:
    pairs = [(key, inside(evaluate(engine, index, number, each))) for key, each in expr.items]
    if len(pairs) > MAX_ITEMS:
        return {Record(((None, merged([part for _, part in pairs])),)): SCOPE}
    return {Record(tuple(pairs)): SCOPE}


def merged(parts: list[Some]) -> Some:
    """The union of these values."""
    found = dict.fromkeys([each for part in parts for each in part], INFERRED)
    return inside(found)


def _one_of(engine: Engine, index: FileIndex, number: int, expr: OneOf) -> Values:
    found: Values = {}
    for each in expr.choices:
        add(found, evaluate(engine, index, number, each))
    return found


def _inner(engine: Engine, index: FileIndex, number: int, expr: Inner) -> Values:
    if index.scopes[expr.scope].kind == "class":
        return {Class(index.path, expr.scope): SCOPE}
    return {Func(index.path, expr.scope): SCOPE}


def _literal(engine: Engine, index: FileIndex, number: int, expr: Literal) -> Values:
    return NOTHING if expr.kind in index.rules.vague else {Thing(expr.kind): SCOPE}


def _typed(engine: Engine, index: FileIndex, number: int, expr: Typed) -> Values:
    found = types.stated(engine, index, number, expr.of)
    if expr.value is None or types.is_informative(index, found):
        return found
    return evaluate(engine, index, number, expr.value)


def _many(engine: Engine, index: FileIndex, number: int, expr: Many) -> Values:
    return {Thing(expr.kind): SCOPE} if expr.kind else NOTHING


_KINDS: dict[type, Callable[[Engine, FileIndex, int, Any], Values]] = {
    Name: lambda engine, index, number, expr: names.lookup(engine, index, number, expr.id),
    Attr: _attr,
    Call: _call,
    Item: _item,
    ParameterOf: _parameter_of,
    GuardedBy: _guarded_by,
    Element: _element,
    Unwrapped: _unwrapped,
    Group: _group,
    Table: _table,
    OneOf: _one_of,
    Inner: _inner,
    Literal: _literal,
    Typed: _typed,
    Super: lambda engine, index, number, expr: members.bases_around(engine, index, number),
    Many: _many,
}
