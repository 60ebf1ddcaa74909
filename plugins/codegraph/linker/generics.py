"""Type parameters and their substitution."""

from __future__ import annotations

from plugins.codegraph.facts import (
    Call,
)
from plugins.codegraph.linker import evaluate, parameters, results, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    INFERRED,
    Class,
    External,
    Func,
    Instance,
    Returns,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    Var,
    add,
    inside,
    outside,
)


def applied(engine: Engine, base: Class, each: Class | External) -> Class | External:
    """``each``, a class above ``base``, with the type arguments of ``base`` substituted."""
    if not base.args or not isinstance(each, Class):
        return each
    if (each.path, each.scope) == (base.path, base.scope):
        return base
    if not each.args:
        return each
    given = type_arguments(engine, base)
    return Class(each.path, each.scope, tuple(filled_some(part, given) for part in each.args))


def type_arguments(engine: Engine, of: Class | Instance) -> dict[str, Some]:
    """The type arguments of a class or instance, by the names of its type parameters."""
    if not of.args:
        return {}
    named = engine.solve(("tv", of.path, of.scope), _type_parameters, engine, of.path, of.scope)
    return dict(zip(named, of.args, strict=False))


def _type_parameters(engine: Engine, path: str, number: int) -> tuple[str, ...]:
    index = engine.there(path)
    scope = index.scopes[number]
    found = [word[8:] for word in scope.modifiers if word.startswith("typevar:")]
    if not found:
        for expr in scope.bases:
            for value in evaluate.evaluate(engine, index, scope.parent, expr):
                args = getattr(value, "args", ())
                found += [each.name for part in args for each in part if isinstance(each, Var)]
    return tuple(dict.fromkeys(found))


def filled_some(values: Some, given: dict[str, Some]) -> Some:
    """Nested values with their type parameters replaced by ``given``."""
    found: list[Value] = []
    for value in values:
        found += filled_value(value, given)
    return tuple(dict.fromkeys(found))


def filled_value(value: Value, given: dict[str, Some]) -> Some:
    """One value with its type parameters replaced by ``given``."""
    if isinstance(value, Var):
        return given.get(value.name, (value,))
    if isinstance(value, Instance) and value.args:
        args = tuple(filled_some(part, given) for part in value.args)
        return (Instance(value.path, value.scope, args, value.own),)
    if isinstance(value, Thing) and value.args:
        return (Thing(value.name, tuple(filled_some(part, given) for part in value.args)),)
    if isinstance(value, Tuple):
        return (Tuple(value.kind, tuple(filled_some(part, given) for part in value.items)),)
    if isinstance(value, Returns):
        params = tuple(filled_some(part, given) for part in value.params)
        return (Returns(filled_some(value.values, given), params),)
    return (value,)


def filled(values: Values, given: dict[str, Some]) -> Values:
    """Values with their type parameters replaced by ``given``."""
    if not given or not any(
        isinstance(v, Var | Instance | Thing | Tuple | Returns) for v in values
    ):
        return values
    found: Values = {}
    for value, rank in values.items():
        add(found, outside(filled_value(value, given), rank))
    return found


def bindings(
    engine: Engine, index: FileIndex, number: int, func: Func, bound: bool, call: Call
) -> dict[str, Some]:
    """Infer a function's type arguments from the arguments of a call, by parameter name."""
    home = engine.there(func.path)
    params = home.scopes[func.scope].params
    found: dict[str, Some] = {}
    for place, each in enumerate(params):
        if each.type is None:
            continue
        arg = parameters.argument(params, place, call, parameters.shift(engine, func, bound))
        if arg is None:
            continue
        wanted = types.stated(engine, home, func.scope, each.type)
        if wanted:
            values = evaluate.evaluate(engine, index, number, arg.value)
            for value in wanted:
                _match(engine, index, value, values, found)
    return found


def _match(
    engine: Engine, index: FileIndex, wanted: Value, values: Values, found: dict[str, Some]
) -> None:
    if isinstance(wanted, Var):
        found[wanted.name] = tuple(dict.fromkeys((*found.get(wanted.name, ()), *inside(values))))
    elif isinstance(wanted, Class):
        return
    elif isinstance(wanted, Thing) and wanted.args:
        _match_args(engine, index, wanted, values, found)
    elif isinstance(wanted, Returns):
        made: Values = {}
        for value, rank in values.items():
            add(made, results.called(engine, index, 0, value, rank, Call(None, (), 0)))
        for each in wanted.values:
            _match(engine, index, each, made, found)


def _match_args(
    engine: Engine, index: FileIndex, wanted: Thing, values: Values, found: dict[str, Some]
) -> None:
    container = index.rules.containers.get(wanted.name)
    for place, part in enumerate(wanted.args):
        if not any(isinstance(each, Var) for each in part):
            continue
        if container is not None and place == container.element:
            taken = evaluate.elements(engine, index, values, -1)
        elif container is not None and place == container.item:
            taken = evaluate.subscript(engine, index, values, None)
        else:
            taken = {
                each: INFERRED
                for value in values
                if isinstance(value, Thing) and place < len(value.args)
                for each in value.args[place]
            }
        for each in part:
            _match(engine, index, each, taken, found)


def has_var(value: Value) -> bool:
    """Whether a value contains a type parameter."""
    if isinstance(value, Var):
        return True
    if isinstance(value, Thing | Instance):
        return any(has_var(each) for part in value.args for each in part)
    if isinstance(value, Tuple):
        return any(has_var(each) for part in value.items for each in part)
    return False
