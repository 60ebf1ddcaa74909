"""Expressions as types: what an annotation says about a value."""

from __future__ import annotations

from plugins.codegraph.facts import Expr, Group
from plugins.codegraph.linking import evaluate
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Sheet
from plugins.codegraph.linking.values import (
    NOTHING,
    SCOPE,
    Class,
    External,
    Instance,
    Returns,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    Var,
    inside,
)

_OBJECTS = {Var, Returns, Instance}


def stated(engine: Engine, sheet: Sheet, number: int, expr: Expr | None) -> Values:
    """The objects that a type stands for."""
    if expr is None:
        return NOTHING
    if isinstance(expr, Group):
        return dict.fromkeys(argument(engine, sheet, number, expr), SCOPE)
    return objects(engine, sheet, evaluate.evaluate(engine, sheet, number, expr))


def argument(engine: Engine, sheet: Sheet, number: int, expr: Expr | None) -> Some:
    """A type argument, as it is kept."""
    if expr is None:
        return ()
    if isinstance(expr, Group):
        parts = tuple(argument(engine, sheet, number, each) for each in expr.items)
        return (Tuple("t", parts),)
    return inside(stated(engine, sheet, number, expr))


def objects(engine: Engine, sheet: Sheet, values: Values) -> Values:
    """The objects of types: of a class its instances."""
    found: Values = {}
    for value, rank in values.items():
        kind = type(value)
        if kind is Class:
            found[Instance(value.path, value.scope, value.args)] = rank  # type: ignore[union-attr]
        elif kind is External:
            for each in _of_external(sheet, value):  # type: ignore[arg-type]
                found[each] = rank
        elif kind in _OBJECTS or (isinstance(value, Thing) and value.name not in sheet.rules.vague):
            found[value] = rank
    return found


def _of_external(sheet: Sheet, value: External) -> Some:
    rules = sheet.rules
    name = value.name.rpartition(".")[2]
    args = value.args
    if name in rules.transparent:
        place = rules.transparent[name]
        return args[place] if -len(args) <= place < len(args) else ()
    if name in rules.class_types:
        return classes_of(args[0]) if args else (Thing(name),)
    if name in rules.callables:
        place = rules.callables[name]
        result = args[place] if -len(args) <= place < len(args) else ()
        taken = args[0][0] if len(args) > 1 and len(args[0]) == 1 else None
        return (Returns(result, taken.items if isinstance(taken, Tuple) else ()),)
    return () if name in rules.vague else (Thing(name, args),)


def classes_of(values: Some) -> Some:
    """The classes of objects."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Instance):
            found.append(Class(value.path, value.scope, value.args))
        elif isinstance(value, Thing):
            found.append(External(value.name, value.args))
        elif isinstance(value, Var):
            found += classes_of(value.bound)
    return tuple(found)


def telling(sheet: Sheet, values: Values) -> bool:
    """Whether a stated type says enough, so that what is assigned need not be looked at."""
    vague = sheet.rules.vague
    for value in values:
        kind = type(value)
        if kind is Var or kind is Returns:
            continue
        if kind is Thing and value.name in vague:  # type: ignore[union-attr]
            continue
        return True
    return False
