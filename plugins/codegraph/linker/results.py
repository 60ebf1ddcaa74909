"""The values that calls return."""

from __future__ import annotations

from plugins.codegraph.facts import Call, Expr, Name, OneOf
from plugins.codegraph.linker import (
    classes,
    evaluate,
    generics,
    members,
    mro,
    parameters,
    types,
    well_known_calls,
)
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
    DECLARED,
    INFERRED,
    NOTHING,
    Bound,
    Class,
    External,
    Func,
    Given,
    Instance,
    Method,
    Returns,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    Var,
    add,
    capped,
    inside,
    outside,
    ranked,
)

NO_CALL = Call(None, (), 0)


def callee(engine: Engine, value: Value) -> tuple[Func | None, Value | None]:
    """The function that calling a value runs, and its receiver; None for what is unknown or
    absent."""
    if isinstance(value, Func):
        return value, None
    if isinstance(value, Bound):
        return value.func, value.receiver
    if isinstance(value, Instance):
        called_by = engine.there(value.path).rules.called
        if called_by:
            defined, _, _ = classes.find(engine, value.path, value.scope, called_by)
            if defined:
                return Func(*defined[0]), value
    return None, None


def result(engine: Engine, func: Func) -> Values:
    """The possible return values of a function; a parameter that it returns unchanged stays a
    ``Given``, to be filled in at each call."""
    found: Values = engine.solve(("r", func.path, func.scope), _result, engine, func)
    return found


def _result(engine: Engine, func: Func) -> Values:
    index = engine.there(func.path)
    scope = index.scopes[func.scope]
    found: Values = {}
    if scope.returns is not None:
        found = ranked(types.stated(engine, index, func.scope, scope.returns), DECLARED)
        if types.is_informative(index, found):
            if not has_open(engine, found):
                return found
            return _filled_in(engine, index, func, found)
        found = dict(found)
    if scope.yields or "generator" in scope.modifiers:
        made: Values = {}
        for expr in scope.yields:
            add(made, evaluate.evaluate(engine, index, func.scope, expr))
        add(found, {Thing("generator", (inside(made),)): INFERRED})
    for expr in scope.results:
        _returned(engine, index, func, expr, found)
    return _told_apart(engine, index, func, capped(found))


def _told_apart(engine: Engine, index: FileIndex, func: Func, made: Values) -> Values:
    """Replace functions and classes that came in through a parameter by ``Given``, so that each
    call gets back what it passed."""
    if not any(isinstance(value, Func | Class | Bound) for value in made):
        return made
    scope = index.scopes[func.scope]
    found = dict(made)
    for place, each in enumerate(scope.params):
        if not place and parameters.is_receiver(index, func.scope, scope):
            continue
        passed = parameters.param(engine, func, place)
        mixed = [value for value in found if value in passed and isinstance(value, Func | Class)]
        for value in mixed:
            del found[value]
        if mixed:
            found[Given(func, each.name)] = INFERRED
    return found


def has_open(engine: Engine, values: Values) -> bool:
    """Whether any value is a function known only by its type, which includes interfaces that have
    nothing but a call signature."""
    return any(isinstance(value, Returns) or _only_called(engine, value) for value in values)


def _only_called(engine: Engine, value: Value) -> bool:
    if not isinstance(value, Instance):
        return False
    index = engine.there(value.path)
    called_by = index.rules.called
    if not called_by or "interface" not in index.scopes[value.scope].modifiers:
        return False
    return set(index.names[value.scope]) == {called_by}


def _filled_in(engine: Engine, index: FileIndex, func: Func, stated: Values) -> Values:
    """Add to a declared function type the functions that are actually returned."""
    made: Values = {}
    for expr in index.scopes[func.scope].results:
        _returned(engine, index, func, expr, made)
    found = dict(stated)
    add(found, {v: r for v, r in made.items() if isinstance(v, Func | Bound | Class | Given)})
    return _told_apart(engine, index, func, capped(found))


def _returned(
    engine: Engine, index: FileIndex, func: Func, expr: Expr | None, into: Values
) -> None:
    if type(expr) is OneOf:
        for each in expr.choices:
            _returned(engine, index, func, each, into)
        return
    if type(expr) is Name and _is_given(index, func, expr.id):
        into[Given(func, expr.id)] = INFERRED
        return
    add(into, evaluate.evaluate(engine, index, func.scope, expr), INFERRED)


def _is_given(index: FileIndex, func: Func, name: str) -> bool:
    """Whether a name is an untyped parameter that is never rebound."""
    origins = index.names[func.scope].get(name)
    if not origins or len(origins) > 1 or origins[0].how != "param":
        return False
    place = origins[0].number
    scope = index.scopes[func.scope]
    if not place and parameters.is_receiver(index, func.scope, scope):
        return False
    return scope.params[place].type is None


def seen_from(engine: Engine, values: Values, receiver: Value, owner: Class | None) -> Values:
    """Return values of a method as seen by the caller: ``self`` becomes the receiver, and type
    parameters of the class become the receiver's type arguments."""
    if not any(isinstance(v, Instance | Class | Var | Thing | Tuple | Returns) for v in values):
        return values
    found: Values = {}
    for value, rank in values.items():
        if isinstance(value, Instance) and value.own:
            value = _as_receiver(engine, value, receiver)
        found[value] = min(rank, found.get(value, rank))
    if isinstance(receiver, Instance | Class):
        if owner is not None and owner.args:
            found = generics.filled(found, generics.type_arguments(engine, owner))
        if receiver.args:
            found = generics.filled(found, generics.type_arguments(engine, receiver))
    return found


def _as_receiver(engine: Engine, own: Instance, receiver: Value) -> Value:
    if isinstance(receiver, Instance | Class):
        for each in mro.order(engine, receiver.path, receiver.scope):
            if isinstance(each, Class) and (each.path, each.scope) == (own.path, own.scope):
                mine = isinstance(receiver, Instance) and receiver.own
                return Instance(receiver.path, receiver.scope, receiver.args, own=mine)
    return Instance(own.path, own.scope, own.args)


def of_method(engine: Engine, index: FileIndex, value: Instance, rank: int, name: str) -> Values:
    """The possible values of calling an object's method without arguments."""
    found: Values = {}
    for each, own in members.of_instance(engine, value, rank, name).items():
        add(found, called(engine, index, 0, each, own, NO_CALL))
    return found


def called(
    engine: Engine, index: FileIndex, number: int, value: Value, rank: int, call: Call
) -> Values:
    """The possible values of a call.

    Args:
        engine: the engine of the repository.
        index: the file of the call.
        number: the scope of the call.
        value: the callee.
        rank: how certain the callee is.
        call: the call, for its arguments.
    """
    if isinstance(value, Func | Bound | Instance):
        func, receiver = callee(engine, value)
        if func is None:
            return NOTHING
        return _of_function(engine, index, number, func, receiver, call)
    if isinstance(value, Class):
        return _made(engine, index, number, value, call)
    if isinstance(value, External | Method):
        return well_known_calls.outer(engine, index, number, value, call)
    if isinstance(value, Returns):
        return outside(value.values, max(rank, DECLARED))
    if isinstance(value, Thing):
        return {Thing(""): rank}
    if isinstance(value, Given):
        return _of_given(engine, index, number, value, call)
    return NOTHING


def _of_given(engine: Engine, index: FileIndex, number: int, value: Given, call: Call) -> Values:
    found: Values = {}
    for each, own in parameters.given(engine, value).items():
        if not isinstance(each, Given):
            add(found, called(engine, index, number, each, own, call))
    return found


def _made(engine: Engine, index: FileIndex, number: int, value: Class, call: Call) -> Values:
    """The values of calling a class: a new instance. A function that also serves as a class
    (JavaScript prototypes) gives its return value when called without ``new``."""
    made: Values = {Instance(value.path, value.scope, value.args): INFERRED}
    home = engine.there(value.path)
    if call.new or "prototype" not in home.scopes[value.scope].modifiers:
        return made
    found: Values = {}
    for origin in home.names[value.scope].get("constructor", ()):
        if origin.how == "scope":
            func = Func(value.path, origin.number)
            add(found, _of_function(engine, index, number, func, None, call))
    return found


def _of_function(
    engine: Engine, index: FileIndex, number: int, func: Func, receiver: Value | None, call: Call
) -> Values:
    made = result(engine, func)
    if not made:
        return NOTHING
    found: Values = {}
    bindings: dict[str, Some] | None = None
    for value, rank in made.items():
        if isinstance(value, Given):
            add(found, _passed(engine, index, number, value, receiver is not None, call), INFERRED)
            continue
        if bindings is None and generics.has_var(value):
            bindings = generics.bindings(engine, index, number, func, receiver is not None, call)
        add(found, {value: rank})
    if bindings:
        found = generics.filled(found, bindings)
    if receiver is not None:
        found = seen_from(engine, found, receiver, _owner(engine, func, receiver))
    return found


def _owner(engine: Engine, func: Func, receiver: Value) -> Class | None:
    """The class that defines a method, with the type arguments that follow from the receiver's
    class, which may be a subclass."""
    if not isinstance(receiver, Instance | Class):
        return None
    home = engine.there(func.path).scopes[func.scope].parent
    for each in mro.order(engine, receiver.path, receiver.scope):
        if isinstance(each, Class) and (each.path, each.scope) == (func.path, home):
            return each
    return None


def _passed(
    engine: Engine, index: FileIndex, number: int, value: Given, bound: bool, call: Call
) -> Values:
    """The value of a ``Given`` at this call: the argument, or the parameter's default."""
    params = engine.there(value.func.path).scopes[value.func.scope].params
    for place, each in enumerate(params):
        if each.name == value.name:
            arg = parameters.argument(
                params, place, call, parameters.shift(engine, value.func, bound)
            )
            if arg is not None:
                return evaluate.evaluate(engine, index, number, arg.value)
            if each.default is not None and call is not NO_CALL:
                module = engine.there(value.func.path)
                parent = module.scopes[value.func.scope].parent
                return evaluate.evaluate(engine, module, parent, each.default)
    return parameters.given(engine, value)
