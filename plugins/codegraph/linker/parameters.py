"""The values that parameters are given."""

from __future__ import annotations

from plugins.codegraph.facts import (
    Arg,
    Call,
    Element,
    Item,
    Param,
    Scope,
)
from plugins.codegraph.linker import arguments, evaluate, names, results, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    DECLARED,
    INFERRED,
    NOTHING,
    SELF,
    Bound,
    Class,
    Func,
    Given,
    Instance,
    Thing,
    Values,
    add,
    capped,
    inside,
    ranked,
)


def given(engine: Engine, value: Given) -> Values:
    """The possible values of a parameter when the particular call is unknown."""
    params = engine.there(value.func.path).scopes[value.func.scope].params
    for place, param_ in enumerate(params):
        if param_.name == value.name:
            return param(engine, value.func, place)
    return NOTHING


def shift(engine: Engine, func: Func, bound: bool) -> int:
    """How many leading parameters the receiver fills: 0 or 1."""
    if not bound:
        return 0
    index = engine.there(func.path)
    return int(is_receiver(index, func.scope, index.scopes[func.scope]))


def argument(params: tuple[Param, ...], place: int, call: Call, shift: int) -> Arg | None:
    """The argument of a call that fills the parameter number ``place``, or None."""
    name = params[place].name
    for each in call.args:
        if each.name == name and name and not each.spread:
            return each
    splats = [each for each in call.args if each.spread and each.name]
    if params[place].kind in ("k", "**"):
        return Arg(Item(splats[0].value, name)) if splats else None
    positional = 0
    for each in call.args:
        if each.name:
            continue
        if each.spread:
            return Arg(Element(each.value))
        if positional + shift == place:
            return each
        positional += 1
    return Arg(Item(splats[0].value, name)) if splats else None


def is_receiver(index: FileIndex, number: int, scope: Scope) -> bool:
    """Whether a function's first parameter is its receiver."""
    if scope.receiver is not None:
        return True
    if "static" in scope.modifiers:
        return False
    parent = index.scopes[scope.parent]
    if parent.kind != "class" or not scope.params:
        return False
    return index.rules.first_parameter or scope.params[0].name in index.rules.receivers


def param(engine: Engine, func: Func, place: int) -> Values:
    """The possible values of a parameter, over all known calls."""
    key = ("p", func.path, func.scope, place)
    found: Values = engine.solve(key, _param, engine, func, place)
    return found


def _param(engine: Engine, func: Func, place: int) -> Values:
    index = engine.there(func.path)
    scope = index.scopes[func.scope]
    if place == 0 and is_receiver(index, func.scope, scope):
        return _receiver(engine, index, func, scope)
    param_ = scope.params[place]
    found: Values = {}
    if param_.type is not None:
        found = ranked(types.stated(engine, index, func.scope, param_.type), DECLARED)
        if param_.kind in ("*", "**") and found:
            return _rest(param_, found)
        if types.is_informative(index, found):
            if not results.has_open(engine, found):
                return found
            return _filled_in(engine, index, func, place, found)
        found = dict(found)
    if param_.kind in ("*", "**"):
        return arguments.rest_from_calls(engine, index, func, place)
    if param_.default is not None:
        add(found, evaluate.evaluate(engine, index, scope.parent, param_.default), INFERRED)
    add(found, arguments.injected(engine, index, func, place), INFERRED)
    add(found, _handed(arguments.from_calls(engine, index, func, place)), INFERRED)
    return capped(found)


def _handed(values: Values) -> Values:
    """Arguments as the function sees them: the object of the caller is not its own."""
    return {
        Instance(value.path, value.scope, value.args)
        if isinstance(value, Instance) and value.own
        else value: rank
        for value, rank in values.items()
    }


def _filled_in(engine: Engine, index: FileIndex, func: Func, place: int, stated: Values) -> Values:
    """Add to a declared function type the functions that are actually passed."""
    found = dict(stated)
    passed: Values = {}
    add(passed, arguments.injected(engine, index, func, place), INFERRED)
    add(passed, arguments.from_calls(engine, index, func, place), INFERRED)
    add(found, {v: r for v, r in passed.items() if isinstance(v, Func | Bound | Class)})
    return capped(found)


def _rest(param_: Param, found: Values) -> Values:
    held = inside(found)
    if param_.kind == "*":
        return {Thing("list", (held,)): DECLARED}
    return {Thing("dict", ((Thing("str"),), held)): DECLARED}


def _receiver(engine: Engine, index: FileIndex, func: Func, scope: Scope) -> Values:
    if scope.receiver is not None:
        own = names.own_object(engine, index, func.scope)
    else:
        own = names.own_object(engine, index, scope.parent)
    if "classmethod" not in scope.modifiers:
        return own
    return {
        Class(value.path, value.scope, value.args): SELF
        for value in own
        if isinstance(value, Instance)
    }
