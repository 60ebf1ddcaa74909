"""Overload resolution by the number and types of the arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plugins.codegraph.facts import Call, Expr, Item, Param, last_name
from plugins.codegraph.linker import evaluate, mro, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    Bound,
    Class,
    External,
    Func,
    Instance,
    Thing,
    Value,
    Values,
)

_MISMATCH = -1_000
Place = tuple[str, int]


def chosen(engine: Engine, index: FileIndex, number: int, values: Values, call: Call) -> Values:
    """Of the functions that a call may run, keep those that its arguments fit best; values that are
    not functions are kept as they are.

    Args:
        engine: the engine of the repository.
        index: the file of the call.
        number: the scope of the call.
        values: the possible callees.
        call: the call.
    """
    if not index.rules.overloads or len(values) < 2:
        return values
    places = {value: place for value in values if (place := _place(value)) is not None}
    kept = set(best(engine, index, number, list(places.values()), call))
    return {v: rank for v, rank in values.items() if v not in places or places[v] in kept}


def best(
    engine: Engine, index: FileIndex, number: int, places: Sequence[Place], call: Call
) -> Sequence[Place]:
    """Of these functions, given as (path, scope), those that the arguments of a call fit best."""
    if len(places) < 2:
        return places
    given = [evaluate.evaluate(engine, index, number, arg.value) for arg in call.args]
    scores = {place: _score(engine, place, given) for place in places}
    most = max(scores.values())
    if most <= _MISMATCH:
        return places
    fitting = [place for place in places if scores[place] == most]
    first = _class_of(engine, fitting[0])
    # An override hides the method of its base even where they spell the types differently.
    return [place for place in fitting if _class_of(engine, place) == first]


def _class_of(engine: Engine, place: Place) -> Place:
    index = engine.there(place[0])
    parent = index.scopes[place[1]].parent
    return (place[0], -1 if index.scopes[parent].receiver is not None else parent)


def _place(value: Value) -> Place | None:
    if isinstance(value, Bound):
        value = value.func
    return (value.path, value.scope) if isinstance(value, Func) else None


def parameters(index: FileIndex, number: int) -> tuple[Param, ...]:
    """A function's parameters without its receiver."""
    params = index.scopes[number].params
    if params and params[0].name in index.rules.receivers:
        return params[1:]
    return params


def shape(index: FileIndex, number: int) -> tuple[str, ...]:
    """A function's signature as the names of its parameter types: the same for an override."""
    return tuple(each.kind + _named(each.type) for each in parameters(index, number))


def _named(of: Expr | None) -> str:
    if isinstance(of, Item) and last_name(of.of) == "[]":
        return "".join(_named(each) for each in of.args) + "[]"
    return last_name(of)


def _score(engine: Engine, place: Place, given: Sequence[Values]) -> int:
    index = engine.there(place[0])
    params = parameters(index, place[1])
    rest = bool(params) and params[-1].kind == "*"
    if len(given) != len(params) and not (rest and len(given) >= len(params) - 1):
        return _MISMATCH
    score = -1 if rest else 0
    for at, values in enumerate(given):
        param = params[min(at, len(params) - 1)]
        wanted = types.stated(engine, index, place[1], param.type)
        fit = max((_fit(engine, index, each, wanted) for each in values), default=0)
        if fit < 0:
            return _MISMATCH
        score += fit
    return score


def _fit(engine: Engine, index: FileIndex, value: Value, wanted: Iterable[Value]) -> int:
    """How well an argument fits a type: 4 exact, 3 a subclass, 0 unknown, -1 impossible."""
    scores = [_fits(engine, index, value, each) for each in wanted]
    return max(scores, default=0)


def _fits(engine: Engine, index: FileIndex, value: Value, wanted: Value) -> int:
    final = index.rules.final
    if isinstance(wanted, Thing) and wanted.name in index.rules.vague:
        return 0
    if isinstance(value, Instance) and isinstance(wanted, Instance):
        return _fits_class(engine, value, wanted)
    if isinstance(value, Thing) and isinstance(wanted, Thing):
        if final.get(value.name, value.name) == final.get(wanted.name, wanted.name):
            return 4 if value.name else 0
        return -1 if value.name in final and wanted.name in final else 0
    if isinstance(value, Thing) and isinstance(wanted, Instance):
        return -1 if value.name in final else 0
    if isinstance(value, Instance) and isinstance(wanted, Thing):
        return -1 if wanted.name in final else 0
    function = isinstance(value, Func | Bound)
    return -1 if function and isinstance(wanted, Thing) and wanted.name in final else 0


def _fits_class(engine: Engine, value: Instance, wanted: Instance) -> int:
    above = mro.order(engine, value.path, value.scope)
    for steps, each in enumerate(above):
        if isinstance(each, Class) and (each.path, each.scope) == (wanted.path, wanted.scope):
            return 4 if not steps else 3
    # An external base may be a subclass of what is wanted.
    return 0 if any(isinstance(each, External) for each in above) else -1
