"""What names stand for: in the scopes around, in modules, through imports."""

from __future__ import annotations

from collections.abc import Iterable

from plugins.codegraph.facts import Attr, Bind, Call, Scope
from plugins.codegraph.linking import (
    decorators,
    evaluate,
    members,
    modules,
    parameters,
    types,
)
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.sheet import Origin, Sheet, Step
from plugins.codegraph.linking.values import (
    DECLARED,
    INFERRED,
    NOTHING,
    SCOPE,
    SELF,
    Class,
    External,
    Func,
    Instance,
    Record,
    Thing,
    Values,
    Var,
    add,
    capped,
    inside,
    ranked,
)


def lookup(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    """What a bare name stands for in a scope."""
    own = _own(engine, sheet, number, name)
    if own is not None:
        return own
    current = number
    while current >= 0:
        scope = sheet.scopes[current]
        names = sheet.names[current]
        if scope.kind == "class":
            found = _in_class(engine, sheet, current, name, current == number)
            if found is not None:
                return found
        elif name in names:
            return bound(engine, sheet, current, name)
        brought = _brought_in(engine, sheet, current, name)
        if brought is not None:
            return brought
        current = scope.parent
    return _outside(engine, sheet, number, name)


def _in_class(engine: Engine, sheet: Sheet, number: int, name: str, itself: bool) -> Values | None:
    """A bare name that is looked up in a class around, or in its own body (``itself``)."""
    rules = sheet.rules
    origins = sheet.names[number].get(name)
    if origins is not None:
        own_body = itself and rules.body_sees_members
        if own_body or _seen_within(sheet.scopes[number], origins):
            return bound(engine, sheet, number, name)
    return members.seen_inside(engine, sheet, number, name) if rules.class_scopes else None


def _seen_within(scope: Scope, origins: list[Origin]) -> bool:
    """Whether a class scope's name is seen by what is in it: a type parameter, or anything where
    the scope is that of a module within a file (``namespace``)."""
    return "namespace" in scope.modifiers or any(each.how == "typevar" for each in origins)


def _own(engine: Engine, sheet: Sheet, number: int, name: str) -> Values | None:
    """The object or the class around, if the name means one of these."""
    if name not in sheet.rules.own_types and name not in sheet.rules.receivers:
        return None
    if name in sheet.rules.receivers:
        owner = sheet.receiver_class(number, name)
        if owner >= 0:
            return own_object(engine, sheet, owner)
        owner = _class_around(sheet, number)
        return None if owner < 0 else own_object(engine, sheet, owner)
    owner = _class_around(sheet, number)
    if owner < 0:
        return None
    found: Values = {}
    for value, rank in own_object(engine, sheet, owner).items():
        if isinstance(value, Instance):
            found[Class(value.path, value.scope, value.args)] = rank
    return found


def _class_around(sheet: Sheet, number: int) -> int:
    while number > 0:
        scope = sheet.scopes[number]
        if scope.kind == "class" or scope.receiver is not None:
            return number
        number = scope.parent
    return -1


def own_object(engine: Engine, sheet: Sheet, owner: int) -> Values:
    """The object around, given its class's scope, or that of a method from outside of it."""
    scope = sheet.scopes[owner]
    if scope.receiver is None:
        return {Instance(sheet.path, owner, own=True): SELF}
    found = types.stated(
        engine, sheet, scope.parent if scope.kind != "class" else owner, scope.receiver
    )
    objects = [
        each
        for value in found
        for each in (value.bound if isinstance(value, Var) else (value,))
        if isinstance(each, Instance)
    ]
    return {Instance(each.path, each.scope, each.args, own=True): SELF for each in objects}


def _brought_in(engine: Engine, sheet: Sheet, current: int, name: str) -> Values | None:
    """A name that a scope has without binding it: the package's before that of a star import."""
    beside = None if current else _in_package(engine, sheet, name)
    if beside is not None:
        return beside
    if current in sheet.stars:
        return modules.starred(engine, sheet, sheet.stars[current], name) or None
    return None


def _in_package(engine: Engine, sheet: Sheet, name: str) -> Values | None:
    """A name of another file of the package, or None where none has it."""
    for path in sheet.rules.besides(sheet.path, sheet.facts, name):
        other = engine.sheet(path) if path != sheet.path else None
        if other is not None and name in other.names[0]:
            return bound(engine, other, 0, name)
    return None


def _outside(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    """A name that no scope of the file binds, nor its package."""
    target = sheet.rules.named(sheet.path, sheet.scopes[number], name)
    if target is not None:
        return modules.as_module(target, name)
    if sheet.rules.known(name):
        return {External(name): SCOPE}
    return NOTHING


def bound(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    """What a name stands for in the very scope that binds it."""
    found: Values = engine.solve(
        ("n", sheet.path, number, name), _bound, engine, sheet, number, name
    )
    return found


def _bound(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    return capped(of_origins(engine, sheet, sheet.names[number].get(name, ())))


def of_origins(engine: Engine, sheet: Sheet, origins: Iterable[Origin]) -> Values:
    """What all these origins give together; a type that is stated wins over values."""
    origins = list(origins)
    if len(origins) == 1:
        return of_origin(engine, sheet, origins[0])
    stated = _stated(engine, sheet, origins)
    if types.telling(sheet, stated):
        for each in origins:
            if each.how == "scope" and "interface" in sheet.scopes[each.number].modifiers:
                add(stated, of_origin(engine, sheet, each))
        return stated
    found: Values = dict(stated)
    for each in _shown(sheet, origins):
        add(found, of_origin(engine, sheet, each))
    return found


def _shown(sheet: Sheet, origins: list[Origin]) -> list[Origin]:
    """Without the declarations of overloads and without setters, where there are others."""
    if sum(each.how == "scope" for each in origins) < 2:
        return origins
    hidden = {"overload", "setter"}
    return [
        each
        for each in origins
        if each.how != "scope" or not hidden.intersection(sheet.scopes[each.number].modifiers)
    ]


def _stated(engine: Engine, sheet: Sheet, origins: list[Origin]) -> Values:
    found: Values = {}
    for each in origins:
        if each.how == "bind" and each.of.type is not None:  # type: ignore[union-attr]
            add(found, of_origin(engine, sheet, each))
    return found


def of_origin(engine: Engine, sheet: Sheet, origin: Origin) -> Values:
    """What one origin gives."""
    how = origin.how
    if how == "scope":
        return decorators.decorated(engine, sheet, origin.number)
    if how == "import":
        return modules.imported(engine, sheet, origin.of)  # type: ignore[arg-type]
    if how == "bind":
        return _of_bind(engine, sheet, origin)
    if how == "param":
        return parameters.param(engine, Func(sheet.path, origin.scope), origin.number)
    if how == "typevar":
        return _type_variable(engine, sheet, origin)
    return _of_put(engine, sheet, origin)


def _type_variable(engine: Engine, sheet: Sheet, origin: Origin) -> Values:
    name = origin.steps[0][1]
    bounds: Values = {}
    for each in sheet.names[origin.scope].get(f"{name}:bound", ()):
        if each.how == "bind":
            add(bounds, types.stated(engine, sheet, origin.scope, each.of.type))  # type: ignore[union-attr]
    return {Var(name, inside(bounds)): SCOPE}


def _of_bind(engine: Engine, sheet: Sheet, origin: Origin) -> Values:
    bind: Bind = origin.of  # type: ignore[assignment]
    found: Values = {}
    if bind.type is not None:
        found = ranked(types.stated(engine, sheet, origin.scope, bind.type), DECLARED)
        if types.telling(sheet, found):
            return found
        found = dict(found)
    if bind.value is not None:
        values = evaluate.evaluate(engine, sheet, origin.scope, bind.value)
        for step in origin.steps:
            values = taken(engine, sheet, values, step)
        add(found, values, INFERRED)
    return found


def taken(engine: Engine, sheet: Sheet, values: Values, step: Step) -> Values:
    """One part of values that are taken apart."""
    how, key = step
    if how == "k":
        return evaluate.member(engine, sheet, values, key)
    if how == "i":
        return evaluate.subscript(engine, sheet, values, key)
    return values


def _of_put(engine: Engine, sheet: Sheet, origin: Origin) -> Values:
    """A container into which something is put: what it holds by that."""
    if origin.how == "push":
        call: Call = origin.of  # type: ignore[assignment]
        put = evaluate.evaluate(engine, sheet, origin.scope, call.args[-1].value)
        if isinstance(call.of, Attr) and call.of.name in ("extend", "update"):
            put = evaluate.elements(engine, sheet, put, -1)
        held = inside(put)
        return {Thing("list", (held,)): INFERRED} if held else NOTHING
    bind: Bind = origin.of  # type: ignore[assignment]
    values = evaluate.evaluate(engine, sheet, origin.scope, bind.value)
    for step in origin.steps:
        values = taken(engine, sheet, values, step)
    held = inside(values)
    key = getattr(bind.target, "key", None)
    return {Record(((key, held),)): INFERRED} if held else NOTHING
