"""What calls give back, and what parameters are given."""

from __future__ import annotations

from plugins.codegraph.facts import Arg, Call, Element, Expr, Item, Name, OneOf, Param, Scope
from plugins.codegraph.linking import apply, classes, evaluate, types
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Sheet
from plugins.codegraph.linking.values import (
    DECLARED,
    INFERRED,
    NOTHING,
    SCOPE,
    SELF,
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

_NO_CALL = Call(None, (), 0)


def decorated(engine: Engine, sheet: Sheet, number: int) -> Values:
    """What a function's or class's own name stands for, its decorators applied."""
    scope = sheet.scopes[number]
    if not scope.decorators:
        if scope.kind == "class":
            return {Class(sheet.path, number): SCOPE}
        return {Func(sheet.path, number): SCOPE}
    found: Values = engine.solve(("d", sheet.path, number), _decorated, engine, sheet.path, number)
    return found


def _decorated(engine: Engine, path: str, number: int) -> Values:
    sheet = engine.there(path)
    scope = sheet.scopes[number]
    if scope.kind == "class":
        return {Class(path, number): SCOPE}
    current: Values = {Func(path, number): SCOPE}
    for expr in reversed(scope.decorators):
        current = _wrapped(engine, sheet, scope.parent, expr, current)
    return capped(current)


def _wrapped(
    engine: Engine, sheet: Sheet, number: int, decorator: Expr | None, current: Values
) -> Values:
    """What a decorator makes of something: that itself unless it is known to be another."""
    made: Values = {}
    for value in evaluate.evaluate(engine, sheet, number, decorator):
        if isinstance(value, Class):
            add(made, _object_of(engine, value, current))
            continue
        if isinstance(value, Returns):
            add(made, outside(value.values, DECLARED))
            continue
        func, receiver = _callee(engine, value)
        if func is None:
            return current
        taken = _first_parameter(engine, func, receiver is not None)
        for each, rank in result(engine, func).items():
            if isinstance(each, Given):
                add(made, current if each.name == taken else given(engine, each))
            else:
                made[each] = rank
    if not any(isinstance(each, Func | Bound | Instance) for each in made):
        return current
    if any(isinstance(each, Func) and _transparent(engine, each) for each in made):
        both = dict(current)
        add(both, made)
        return both
    return ranked(made, INFERRED)


def _object_of(engine: Engine, value: Class, current: Values) -> Values:
    """What a class makes of what it decorates: an object, if that can be called in its place."""
    called_by = engine.there(value.path).rules.called
    if called_by and classes.find(engine, value.path, value.scope, called_by)[0]:
        return {Instance(value.path, value.scope): INFERRED}
    return current


def _first_parameter(engine: Engine, func: Func, bound: bool) -> str:
    params = engine.there(func.path).scopes[func.scope].params
    place = shift(engine, func, bound)
    return params[place].name if place < len(params) else ""


def _transparent(engine: Engine, func: Func) -> bool:
    """Whether a wrapper says that it stands for what it wraps: ``functools.wraps``."""
    sheet = engine.there(func.path)
    scope = sheet.scopes[func.scope]
    for expr in scope.decorators:
        for value in evaluate.evaluate(engine, sheet, scope.parent, expr):
            if isinstance(value, Method) and value.word == "decorator":
                return True
    return False


def _callee(engine: Engine, value: Value) -> tuple[Func | None, Value | None]:
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
            if not _has_open(found):
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
    return capped(found)


def _has_open(values: Values) -> bool:
    """Whether some function is among them of which only the type is known."""
    return any(isinstance(value, Returns) for value in values)


def _filled_in(engine: Engine, sheet: Sheet, func: Func, stated: Values) -> Values:
    """A stated type, with the functions that are returned where it says only "some function"."""
    made: Values = {}
    for expr in sheet.scopes[func.scope].results:
        _returned(engine, sheet, func, expr, made)
    found = dict(stated)
    add(found, {v: r for v, r in made.items() if isinstance(v, Func | Bound | Given)})
    return capped(found)


def _returned(engine: Engine, sheet: Sheet, func: Func, expr: Expr | None, into: Values) -> None:
    if type(expr) is OneOf:
        for each in expr.choices:
            _returned(engine, sheet, func, each, into)
        return
    if type(expr) is Name:
        origins = sheet.names[func.scope].get(expr.id)
        if origins and len(origins) == 1 and origins[0].how == "param":
            scope = sheet.scopes[func.scope]
            if origins[0].number or not _is_receiver(sheet, func.scope, scope):
                if scope.params[origins[0].number].type is None:
                    into[Given(func, expr.id)] = INFERRED
                    return
    add(into, evaluate.evaluate(engine, sheet, func.scope, expr), INFERRED)


def given(engine: Engine, value: Given) -> Values:
    """What a parameter may be, where the call is not at hand."""
    params = engine.there(value.func.path).scopes[value.func.scope].params
    for place, param_ in enumerate(params):
        if param_.name == value.name:
            return param(engine, value.func, place)
    return NOTHING


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
            found = classes.filled(found, classes.type_arguments(engine, owner))
        if receiver.args:
            found = classes.filled(found, classes.type_arguments(engine, receiver))
    return found


def _as_receiver(engine: Engine, own: Instance, receiver: Value) -> Value:
    if isinstance(receiver, Instance | Class):
        for each in classes.order(engine, receiver.path, receiver.scope):
            if isinstance(each, Class) and (each.path, each.scope) == (own.path, own.scope):
                mine = isinstance(receiver, Instance) and receiver.own
                return Instance(receiver.path, receiver.scope, receiver.args, own=mine)
    return Instance(own.path, own.scope, own.args)


def of_method(engine: Engine, sheet: Sheet, value: Instance, rank: int, name: str) -> Values:
    """What calling a method of an object without arguments gives."""
    found: Values = {}
    for each, own in classes.of_instance(engine, value, rank, name).items():
        add(found, called(engine, sheet, 0, each, own, _NO_CALL))
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
        func, receiver = _callee(engine, value)
        if func is None:
            return NOTHING
        return _of_function(engine, sheet, number, func, receiver, call)
    if isinstance(value, Class):
        return _made(engine, sheet, number, value, call)
    if isinstance(value, External):
        return apply.external(engine, sheet, number, value, call)
    if isinstance(value, Method):
        return apply.method(engine, sheet, number, value, call)
    if isinstance(value, Returns):
        return outside(value.values, max(rank, DECLARED))
    if isinstance(value, Thing):
        return {Thing(""): rank}
    if isinstance(value, Given):
        found: Values = {}
        for each, own in given(engine, value).items():
            if not isinstance(each, Given):
                add(found, called(engine, sheet, number, each, own, call))
        return found
    return NOTHING


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
        if bindings is None and _has_var(value):
            bindings = apply.bindings(engine, sheet, number, func, receiver is not None, call)
        add(found, {value: rank})
    if bindings:
        found = classes.filled(found, bindings)
    if receiver is not None:
        found = seen_from(engine, found, receiver, None)
    return found


def _has_var(value: Value) -> bool:
    if isinstance(value, Var):
        return True
    if isinstance(value, Thing | Instance):
        return any(_has_var(each) for part in value.args for each in part)
    if isinstance(value, Tuple):
        return any(_has_var(each) for part in value.items for each in part)
    return False


def _passed(
    engine: Engine, sheet: Sheet, number: int, value: Given, bound: bool, call: Call
) -> Values:
    """What this call passes for a parameter that is given back."""
    params = engine.there(value.func.path).scopes[value.func.scope].params
    for place, each in enumerate(params):
        if each.name == value.name:
            arg = argument(params, place, call, shift(engine, value.func, bound))
            if arg is not None:
                return evaluate.evaluate(engine, sheet, number, arg.value)
            if each.default is not None and call is not _NO_CALL:
                sheet_of = engine.there(value.func.path)
                parent = sheet_of.scopes[value.func.scope].parent
                return evaluate.evaluate(engine, sheet_of, parent, each.default)
    return given(engine, value)


def shift(engine: Engine, func: Func, bound: bool) -> int:
    """How many of a method's parameters its receiver fills."""
    if not bound:
        return 0
    sheet = engine.there(func.path)
    return int(_is_receiver(sheet, func.scope, sheet.scopes[func.scope]))


def argument(params: tuple[Param, ...], place: int, call: Call, shift: int) -> Arg | None:
    """The argument of a call that a parameter gets, or None."""
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


def _is_receiver(sheet: Sheet, number: int, scope: Scope) -> bool:
    """Whether a function's first parameter is its receiver."""
    if scope.receiver is not None:
        return True
    if "static" in scope.modifiers:
        return False
    parent = sheet.scopes[scope.parent]
    if parent.kind != "class" or not scope.params:
        return False
    return sheet.rules.first_parameter or scope.params[0].name in sheet.rules.receivers


def param(engine: Engine, func: Func, place: int) -> Values:
    """What a parameter may be."""
    key = ("p", func.path, func.scope, place)
    found: Values = engine.solve(key, _param, engine, func, place)
    return found


def _param(engine: Engine, func: Func, place: int) -> Values:
    sheet = engine.there(func.path)
    scope = sheet.scopes[func.scope]
    if place == 0 and _is_receiver(sheet, func.scope, scope):
        return _receiver(engine, sheet, func, scope)
    param_ = scope.params[place]
    found: Values = {}
    if param_.type is not None:
        found = ranked(types.stated(engine, sheet, func.scope, param_.type), DECLARED)
        if param_.kind in ("*", "**") and found:
            return _rest(param_, found)
        if types.telling(sheet, found):
            return found
        found = dict(found)
    if param_.kind in ("*", "**"):
        return apply.rest_from_calls(engine, sheet, func, place)
    if param_.default is not None:
        add(found, evaluate.evaluate(engine, sheet, scope.parent, param_.default), INFERRED)
    add(found, apply.injected(engine, sheet, func, place), INFERRED)
    add(found, apply.from_calls(engine, sheet, func, place), INFERRED)
    return capped(found)


def _rest(param_: Param, found: Values) -> Values:
    held = inside(found)
    if param_.kind == "*":
        return {Thing("list", (held,)): DECLARED}
    return {Thing("dict", ((Thing("str"),), held)): DECLARED}


def _receiver(engine: Engine, sheet: Sheet, func: Func, scope: Scope) -> Values:
    if scope.receiver is not None:
        own = classes.names.own_object(engine, sheet, func.scope)
    else:
        own = classes.names.own_object(engine, sheet, scope.parent)
    if "classmethod" not in scope.modifiers:
        return own
    return {
        Class(value.path, value.scope, value.args): SELF
        for value in own
        if isinstance(value, Instance)
    }
