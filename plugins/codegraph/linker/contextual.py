"""Contextual typing: infers the parameters of an inline function from the type expected of it."""

from __future__ import annotations

from plugins.codegraph.facts import Item, Name
from plugins.codegraph.linker import generics, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    NOTHING,
    Bound,
    Class,
    External,
    Func,
    Instance,
    Returns,
    Value,
    Values,
    add,
    outside,
)

GUARD = "Guard"
"""The name that lowered facts use for the result type of a type guard (``x is T``)."""


def parameter(engine: Engine, index: FileIndex, values: Values, place: int) -> Values:
    """The values of one parameter that a function of these types is called with.

    Args:
        engine: the engine of the repository.
        index: the file that uses the result.
        values: functions or function types; callable interfaces count too.
        place: the parameter's position, from 0.
    """
    found: Values = {}
    for value, rank in values.items():
        if isinstance(value, External):
            meant = types.objects(engine, index, {value: rank})
            if not any(isinstance(each, External) for each in meant):
                add(found, parameter(engine, index, meant, place))
        elif isinstance(value, Returns):
            part = value.params[place] if place < len(value.params) else ()
            add(found, outside(part, rank))
        elif isinstance(value, Class | Instance):
            add(found, _of_interface(engine, value, place), rank)
        elif isinstance(value, Func | Bound):
            add(found, _of_function(engine, value, place), rank)
    return found


def guarded(engine: Engine, values: Values) -> Values:
    """What the argument of these type guards is when they return true: ``T`` of ``(x): x is T``."""
    found: Values = {}
    for value, rank in values.items():
        func = value.func if isinstance(value, Bound) else value
        if not isinstance(func, Func):
            continue
        home = engine.there(func.path)
        said = home.scopes[func.scope].returns
        if isinstance(said, Item) and said.of == Name(GUARD) and said.args:
            add(found, types.stated(engine, home, func.scope, said.args[0]), rank)
    return found


def _of_interface(engine: Engine, value: Class | Instance, place: int) -> Values:
    """The parameter in the call signature of a callable interface."""
    index = engine.there(value.path)
    found: Values = {}
    for each in index.names[value.scope].get(index.rules.called, ()):
        if each.how == "scope":
            add(found, _of_function(engine, Func(value.path, each.number), place))
    return generics.filled(found, generics.type_arguments(engine, value))


def _of_function(engine: Engine, value: Value, place: int) -> Values:
    func = value.func if isinstance(value, Bound) else value
    if not isinstance(func, Func):
        return NOTHING
    home = engine.there(func.path)
    params = home.scopes[func.scope].params
    if place >= len(params):
        return NOTHING
    found: Values = engine.solve(("cp", func.path, func.scope, place), _stated, engine, func, place)
    if isinstance(value, Bound) and isinstance(value.receiver, Instance):
        return generics.filled(found, generics.type_arguments(engine, value.receiver))
    return found


def _stated(engine: Engine, func: Func, place: int) -> Values:
    """The declared type of a parameter. It may depend on itself through a contextual type, so it is
    solved as a question of its own."""
    home = engine.there(func.path)
    return types.stated(engine, home, func.scope, home.scopes[func.scope].params[place].type)
