"""Evaluates type expressions (annotations)."""

from __future__ import annotations

from plugins.codegraph.facts import Expr, Group
from plugins.codegraph.linker import evaluate
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
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


def stated(engine: Engine, index: FileIndex, number: int, expr: Expr | None) -> Values:
    """The possible values of something declared with this type."""
    if expr is None:
        return NOTHING
    if isinstance(expr, Group):
        return dict.fromkeys(argument(engine, index, number, expr), SCOPE)
    return objects(engine, index, evaluate.evaluate(engine, index, number, expr))


def argument(engine: Engine, index: FileIndex, number: int, expr: Expr | None) -> Some:
    """A type argument as nested values."""
    if expr is None:
        return ()
    if isinstance(expr, Group):
        parts = tuple(argument(engine, index, number, each) for each in expr.items)
        return (Tuple("t", parts),)
    return inside(stated(engine, index, number, expr))


def objects(engine: Engine, index: FileIndex, values: Values) -> Values:
    """The instances of these types; other values that are already objects stay."""
    found: Values = {}
    for value, rank in values.items():
        kind = type(value)
        if kind is Class:
            found[Instance(value.path, value.scope, value.args)] = rank  # type: ignore[union-attr]
        elif kind is External:
            for each in _of_external(index, value):  # type: ignore[arg-type]
                found[each] = rank
        elif kind in _OBJECTS or (isinstance(value, Thing) and value.name not in index.rules.vague):
            found[value] = rank
    return found


def _of_external(index: FileIndex, value: External) -> Some:
    rules = index.rules
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
    """The classes of objects; the inverse of :func:`objects`."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Instance):
            found.append(Class(value.path, value.scope, value.args))
        elif isinstance(value, Thing):
            found.append(External(value.name, value.args))
        elif isinstance(value, Var):
            found += classes_of(value.bound)
    return tuple(found)


def is_informative(index: FileIndex, values: Values) -> bool:
    """Whether a declared type is specific enough that assigned values need not be evaluated."""
    vague = index.rules.vague
    for value in values:
        kind = type(value)
        if kind is Var or kind is Returns:
            continue
        if kind is Thing and value.name in vague:  # type: ignore[union-attr]
            continue
        return True
    return False
