"""Decorated functions and classes."""

from __future__ import annotations

from plugins.codegraph.facts import (
    Expr,
)
from plugins.codegraph.linker import classes, evaluate, parameters, results
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    DECLARED,
    INFERRED,
    SCOPE,
    Bound,
    Class,
    Func,
    Given,
    Instance,
    Method,
    Returns,
    Values,
    add,
    capped,
    outside,
    ranked,
)


def decorated(engine: Engine, index: FileIndex, number: int) -> Values:
    """The values of a definition's name after its decorators have run."""
    scope = index.scopes[number]
    if not scope.decorators:
        if scope.kind == "class":
            return {Class(index.path, number): SCOPE}
        return {Func(index.path, number): SCOPE}
    found: Values = engine.solve(("d", index.path, number), _decorated, engine, index.path, number)
    return found


def _decorated(engine: Engine, path: str, number: int) -> Values:
    index = engine.there(path)
    scope = index.scopes[number]
    if scope.kind == "class":
        return {Class(path, number): SCOPE}
    current: Values = {Func(path, number): SCOPE}
    for expr in reversed(scope.decorators):
        current = _wrapped(engine, index, scope.parent, expr, current)
    if engine.solver.circular:
        return {Func(path, number): SCOPE}
    return capped(current)


def _wrapped(
    engine: Engine, index: FileIndex, number: int, decorator: Expr | None, current: Values
) -> Values:
    """What a decorator turns ``current`` into; ``current`` itself unless another result is
    known."""
    made: Values = {}
    for value in evaluate.evaluate(engine, index, number, decorator):
        if isinstance(value, Class):
            add(made, _object_of(engine, value, current))
            continue
        if isinstance(value, Returns):
            add(made, outside(value.values, DECLARED))
            continue
        func, receiver = results.callee(engine, value)
        if func is None:
            return current
        add(made, _given_back(engine, func, receiver is not None, current))
    if not any(isinstance(each, Func | Bound | Instance) for each in made):
        return current
    if any(isinstance(each, Func) and _transparent(engine, each) for each in made):
        both = dict(current)
        add(both, made)
        return both
    return ranked(made, INFERRED)


def _given_back(engine: Engine, func: Func, bound: bool, current: Values) -> Values:
    """What a decorator function returns when it is called with ``current``."""
    taken = _first_parameter(engine, func, bound)
    found: Values = {}
    for each, rank in results.result(engine, func).items():
        if isinstance(each, Given):
            add(found, current if each.name == taken else parameters.given(engine, each))
        else:
            found[each] = rank
    return found


def _object_of(engine: Engine, value: Class, current: Values) -> Values:
    """What a decorator class makes: its instance if that is callable, else ``current``."""
    called_by = engine.there(value.path).rules.called
    if called_by and classes.find(engine, value.path, value.scope, called_by)[0]:
        return {Instance(value.path, value.scope): INFERRED}
    return current


def _first_parameter(engine: Engine, func: Func, bound: bool) -> str:
    params = engine.there(func.path).scopes[func.scope].params
    place = parameters.shift(engine, func, bound)
    return params[place].name if place < len(params) else ""


def _transparent(engine: Engine, func: Func) -> bool:
    """Whether a wrapper declares that it stands in for what it wraps (``functools.wraps``)."""
    index = engine.there(func.path)
    scope = index.scopes[func.scope]
    for expr in scope.decorators:
        for value in evaluate.evaluate(engine, index, scope.parent, expr):
            if isinstance(value, Method) and value.word == "decorator":
                return True
    return False
