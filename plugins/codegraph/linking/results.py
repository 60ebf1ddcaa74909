"""What calls give back, and what parameters are given."""

from __future__ import annotations

from plugins.codegraph.facts import Call, Expr, Name, OneOf
from plugins.codegraph.linking import (
    apply,
    classes,
    evaluate,
    generics,
    members,
    order,
    parameters,
    types,
)
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Sheet
from plugins.codegraph.linking.values import (
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
    """The function that calling a value runs, and the receiver."""
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
    """What a function gives back; a parameter that it gives back as it is remains ``Given``."""
    found: Values = engine.solve(("r", func.path, func.scope), _result, engine, func)
    return found


def _result(engine: Engine, func: Func) -> Values:
    sheet = engine.there(func.path)
    scope = sheet.scopes[func.scope]
    found: Values = {}
    if scope.returns is not None:
        found = ranked(types.stated(engine, sheet, func.scope, scope.returns), DECLARED)
        if types.telling(sheet, found):
            if not has_open(engine, found):
                return found
            return _filled_in(engine, sheet, func, found)
        found = dict(found)
    if scope.yields or "generator" in scope.modifiers:
        made: Values = {}
        for expr in scope.yields:
            add(made, evaluate.evaluate(engine, sheet, func.scope, expr))
        add(found, {Thing("generator", (inside(made),)): INFERRED})
    for expr in scope.results:
        _returned(engine, sheet, func, expr, found)
    return _told_apart(engine, sheet, func, capped(found))


def _told_apart(engine: Engine, sheet: Sheet, func: Func, made: Values) -> Values:
    """Values that a function gives back because some call passed them: each call has its own."""
    if not any(isinstance(value, Func | Class | Bound) for value in made):
        return made
    scope = sheet.scopes[func.scope]
    found = dict(made)
    for place, each in enumerate(scope.params):
        if not place and parameters.is_receiver(sheet, func.scope, scope):
            continue
        passed = parameters.param(engine, func, place)
        mixed = [value for value in found if value in passed and isinstance(value, Func | Class)]
        for value in mixed:
            del found[value]
        if mixed:
            found[Given(func, each.name)] = INFERRED
    return found


def has_open(engine: Engine, values: Values) -> bool:
    """Whether some function is among them of which only the type is known: also by an interface
    that says nothing but how it is called."""
    return any(isinstance(value, Returns) or _only_called(engine, value) for value in values)


def _only_called(engine: Engine, value: Value) -> bool:
    if not isinstance(value, Instance):
        return False
    sheet = engine.there(value.path)
    called_by = sheet.rules.called
    if not called_by or "interface" not in sheet.scopes[value.scope].modifiers:
        return False
    return set(sheet.names[value.scope]) == {called_by}


def _filled_in(engine: Engine, sheet: Sheet, func: Func, stated: Values) -> Values:
    """A stated type, with the functions that are returned where it says only "some function"."""
    made: Values = {}
    for expr in sheet.scopes[func.scope].results:
        _returned(engine, sheet, func, expr, made)
    found = dict(stated)
    add(found, {v: r for v, r in made.items() if isinstance(v, Func | Bound | Class | Given)})
    return _told_apart(engine, sheet, func, capped(found))


def _returned(engine: Engine, sheet: Sheet, func: Func, expr: Expr | None, into: Values) -> None:
    if type(expr) is OneOf:
        for each in expr.choices:
            _returned(engine, sheet, func, each, into)
        return
    if type(expr) is Name and _is_given(sheet, func, expr.id):
        into[Given(func, expr.id)] = INFERRED
        return
    add(into, evaluate.evaluate(engine, sheet, func.scope, expr), INFERRED)


def _is_given(sheet: Sheet, func: Func, name: str) -> bool:
    """Whether a name is a parameter of no stated type, and nothing else."""
    origins = sheet.names[func.scope].get(name)
    if not origins or len(origins) > 1 or origins[0].how != "param":
        return False
    place = origins[0].number
    scope = sheet.scopes[func.scope]
    if not place and parameters.is_receiver(sheet, func.scope, scope):
        return False
    return scope.params[place].type is None


def seen_from(engine: Engine, values: Values, receiver: Value, owner: Class | None) -> Values:
    """Values that a method gives, seen from the object that it was called on: ``self`` is that
    object, and the class's type parameters are what the object's type was given for them."""
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
        for each in order.order(engine, receiver.path, receiver.scope):
            if isinstance(each, Class) and (each.path, each.scope) == (own.path, own.scope):
                mine = isinstance(receiver, Instance) and receiver.own
                return Instance(receiver.path, receiver.scope, receiver.args, own=mine)
    return Instance(own.path, own.scope, own.args)


def of_method(engine: Engine, sheet: Sheet, value: Instance, rank: int, name: str) -> Values:
    """What calling a method of an object without arguments gives."""
    found: Values = {}
    for each, own in members.of_instance(engine, value, rank, name).items():
        add(found, called(engine, sheet, 0, each, own, NO_CALL))
    return found


def called(
    engine: Engine, sheet: Sheet, number: int, value: Value, rank: int, call: Call
) -> Values:
    """What calling a value gives.

    Args:
        engine: the repository's answers.
        sheet: the file where the call stands.
        number: its scope.
        value: what is called.
        rank: how sure that is.
        call: the call, for its arguments.
    """
    if isinstance(value, Func | Bound | Instance):
        func, receiver = callee(engine, value)
        if func is None:
            return NOTHING
        return _of_function(engine, sheet, number, func, receiver, call)
    if isinstance(value, Class):
        return _made(engine, sheet, number, value, call)
    if isinstance(value, External | Method):
        return apply.outer(engine, sheet, number, value, call)
    if isinstance(value, Returns):
        return outside(value.values, max(rank, DECLARED))
    if isinstance(value, Thing):
        return {Thing(""): rank}
    if isinstance(value, Given):
        return _of_given(engine, sheet, number, value, call)
    return NOTHING


def _of_given(engine: Engine, sheet: Sheet, number: int, value: Given, call: Call) -> Values:
    found: Values = {}
    for each, own in parameters.given(engine, value).items():
        if not isinstance(each, Given):
            add(found, called(engine, sheet, number, each, own, call))
    return found


def _made(engine: Engine, sheet: Sheet, number: int, value: Class, call: Call) -> Values:
    """What calling a class gives: an object. A function that is also a class (JavaScript's
    prototypes) gives what it returns where it is not called with ``new``."""
    made: Values = {Instance(value.path, value.scope, value.args): INFERRED}
    home = engine.there(value.path)
    if call.new or "prototype" not in home.scopes[value.scope].modifiers:
        return made
    found: Values = {}
    for origin in home.names[value.scope].get("constructor", ()):
        if origin.how == "scope":
            func = Func(value.path, origin.number)
            add(found, _of_function(engine, sheet, number, func, None, call))
    return found


def _of_function(
    engine: Engine, sheet: Sheet, number: int, func: Func, receiver: Value | None, call: Call
) -> Values:
    made = result(engine, func)
    if not made:
        return NOTHING
    found: Values = {}
    bindings: dict[str, Some] | None = None
    for value, rank in made.items():
        if isinstance(value, Given):
            add(found, _passed(engine, sheet, number, value, receiver is not None, call), INFERRED)
            continue
        if bindings is None and generics.has_var(value):
            bindings = generics.bindings(engine, sheet, number, func, receiver is not None, call)
        add(found, {value: rank})
    if bindings:
        found = generics.filled(found, bindings)
    if receiver is not None:
        found = seen_from(engine, found, receiver, _owner(engine, func, receiver))
    return found


def _owner(engine: Engine, func: Func, receiver: Value) -> Class | None:
    """The class that a method is of, with the type arguments that the receiver's class, which may
    be below it, gives."""
    if not isinstance(receiver, Instance | Class):
        return None
    home = engine.there(func.path).scopes[func.scope].parent
    for each in order.order(engine, receiver.path, receiver.scope):
        if isinstance(each, Class) and (each.path, each.scope) == (func.path, home):
            return each
    return None


def _passed(
    engine: Engine, sheet: Sheet, number: int, value: Given, bound: bool, call: Call
) -> Values:
    """What this call passes for a parameter that is given back."""
    params = engine.there(value.func.path).scopes[value.func.scope].params
    for place, each in enumerate(params):
        if each.name == value.name:
            arg = parameters.argument(
                params, place, call, parameters.shift(engine, value.func, bound)
            )
            if arg is not None:
                return evaluate.evaluate(engine, sheet, number, arg.value)
            if each.default is not None and call is not NO_CALL:
                sheet_of = engine.there(value.func.path)
                parent = sheet_of.scopes[value.func.scope].parent
                return evaluate.evaluate(engine, sheet_of, parent, each.default)
    return parameters.given(engine, value)
