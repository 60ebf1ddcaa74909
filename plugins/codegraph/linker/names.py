"""Resolves names: in the enclosing scopes, in modules, through imports."""

from __future__ import annotations

from collections.abc import Iterable

from plugins.codegraph.facts import Attr, Bind, Call, Scope
from plugins.codegraph.linker import decorators, evaluate, members, modules, parameters, types
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex, Origin, Step
from plugins.codegraph.linker.values import (
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


def lookup(engine: Engine, index: FileIndex, number: int, name: str) -> Values:
    """The possible values of a bare name in a scope."""
    own = _own(engine, index, number, name)
    if own is not None:
        return own
    current = number
    while current >= 0:
        scope = index.scopes[current]
        names = index.names[current]
        if scope.kind == "class":
            found = _in_class(engine, index, current, name, current == number)
            if found is not None:
                return found
        elif name in names:
            return bound(engine, index, current, name)
        brought = _brought_in(engine, index, current, name)
        if brought is not None:
            return brought
        current = scope.parent
    return _outside(engine, index, number, name)


def _in_class(
    engine: Engine, index: FileIndex, number: int, name: str, itself: bool
) -> Values | None:
    """A bare name looked up in an enclosing class, or in the class's own body (``itself``)."""
    rules = index.rules
    origins = index.names[number].get(name)
    if origins is not None:
        own_body = itself and rules.body_sees_members
        if own_body or seen_within(index.scopes[number], origins):
            return bound(engine, index, number, name)
    return members.seen_inside(engine, index, number, name) if rules.class_scopes else None


def seen_within(scope: Scope, origins: list[Origin]) -> bool:
    """Whether a class scope's name is visible in nested scopes: a type parameter, or any name of a
    ``namespace``."""
    return "namespace" in scope.modifiers or any(each.how == "typevar" for each in origins)


def _own(engine: Engine, index: FileIndex, number: int, name: str) -> Values | None:
    """The enclosing object or class, if the name means one of these (``self``, ``Self``)."""
    if name not in index.rules.own_types and name not in index.rules.receivers:
        return None
    if name in index.rules.receivers:
        owner = index.receiver_class(number, name)
        if owner >= 0:
            return own_object(engine, index, owner)
        owner = _class_around(index, number)
        return None if owner < 0 else own_object(engine, index, owner)
    owner = _class_around(index, number)
    if owner < 0:
        return None
    found: Values = {}
    for value, rank in own_object(engine, index, owner).items():
        if isinstance(value, Instance):
            found[Class(value.path, value.scope, value.args)] = rank
    return found


def _class_around(index: FileIndex, number: int) -> int:
    while number > 0:
        scope = index.scopes[number]
        if scope.kind == "class" or scope.receiver is not None:
            return number
        number = scope.parent
    return -1


def own_object(engine: Engine, index: FileIndex, owner: int) -> Values:
    """The enclosing object, given the scope of its class or of a method declared outside of it."""
    scope = index.scopes[owner]
    if scope.receiver is None:
        return {Instance(index.path, owner, own=True): SELF}
    found = types.stated(
        engine, index, scope.parent if scope.kind != "class" else owner, scope.receiver
    )
    objects = [
        each
        for value in found
        for each in (value.bound if isinstance(value, Var) else (value,))
        if isinstance(each, Instance)
    ]
    return {Instance(each.path, each.scope, each.args, own=True): SELF for each in objects}


def _brought_in(engine: Engine, index: FileIndex, current: int, name: str) -> Values | None:
    """A name that is visible in a scope without being bound there: from the package, else from a
    star import."""
    beside = None if current else _in_package(engine, index, name)
    if beside is not None:
        return beside
    if current in index.stars:
        return modules.starred(engine, index, index.stars[current], name) or None
    return None


def _in_package(engine: Engine, index: FileIndex, name: str) -> Values | None:
    """A name defined in another file of the same package, or None."""
    for path in index.rules.besides(index.path, index.facts, name):
        other = engine.index(path) if path != index.path else None
        if other is not None and name in other.names[0]:
            return bound(engine, other, 0, name)
    return None


def _outside(engine: Engine, index: FileIndex, number: int, name: str) -> Values:
    """A name that neither the file nor its package binds: an external module or a builtin."""
    target = index.rules.named(index.path, index.scopes[number], name)
    if target is not None:
        return modules.as_module(target, name)
    if index.rules.known(name):
        return {External(name): SCOPE}
    return NOTHING


def bound(engine: Engine, index: FileIndex, number: int, name: str) -> Values:
    """The possible values of a name in the scope that binds it."""
    found: Values = engine.solve(
        ("n", index.path, number, name), _bound, engine, index, number, name
    )
    return found


def _bound(engine: Engine, index: FileIndex, number: int, name: str) -> Values:
    return capped(of_origins(engine, index, index.names[number].get(name, ())))


def of_origins(engine: Engine, index: FileIndex, origins: Iterable[Origin]) -> Values:
    """The possible values from all these origins; a declared type wins over assigned values."""
    origins = list(origins)
    if len(origins) == 1:
        return of_origin(engine, index, origins[0])
    stated = _stated(engine, index, origins)
    if types.is_informative(index, stated):
        for each in origins:
            if each.how == "scope" and "interface" in index.scopes[each.number].modifiers:
                add(stated, of_origin(engine, index, each))
        return stated
    found: Values = dict(stated)
    for each in _shown(index, origins):
        add(found, of_origin(engine, index, each))
    return found


def _shown(index: FileIndex, origins: list[Origin]) -> list[Origin]:
    """The origins without overload declarations and setters, unless there is only one
    definition."""
    if sum(each.how == "scope" for each in origins) < 2:
        return origins
    hidden = {"overload", "setter"}
    return [
        each
        for each in origins
        if each.how != "scope" or not hidden.intersection(index.scopes[each.number].modifiers)
    ]


def _stated(engine: Engine, index: FileIndex, origins: list[Origin]) -> Values:
    found: Values = {}
    for each in origins:
        if each.how == "bind" and each.of.type is not None:  # type: ignore[union-attr]
            add(found, of_origin(engine, index, each))
    return found


def of_origin(engine: Engine, index: FileIndex, origin: Origin) -> Values:
    """The possible values from one origin."""
    how = origin.how
    if how == "scope":
        return decorators.decorated(engine, index, origin.number)
    if how == "import":
        return modules.imported(engine, index, origin.of)  # type: ignore[arg-type]
    if how == "bind":
        return _of_bind(engine, index, origin)
    if how == "param":
        return parameters.param(engine, Func(index.path, origin.scope), origin.number)
    if how == "typevar":
        return _type_variable(engine, index, origin)
    return _of_put(engine, index, origin)


def _type_variable(engine: Engine, index: FileIndex, origin: Origin) -> Values:
    name = origin.steps[0][1]
    bounds: Values = {}
    for each in index.names[origin.scope].get(f"{name}:bound", ()):
        if each.how == "bind":
            add(bounds, types.stated(engine, index, origin.scope, each.of.type))  # type: ignore[union-attr]
    return {Var(name, inside(bounds)): SCOPE}


def _of_bind(engine: Engine, index: FileIndex, origin: Origin) -> Values:
    bind: Bind = origin.of  # type: ignore[assignment]
    found: Values = {}
    if bind.type is not None:
        found = ranked(types.stated(engine, index, origin.scope, bind.type), DECLARED)
        if types.is_informative(index, found):
            return found
        found = dict(found)
    if bind.value is not None:
        values = evaluate.kept(engine, index, origin.scope, bind.value)
        for step in origin.steps:
            values = taken(engine, index, values, step)
        add(found, values, INFERRED)
    return found


def taken(engine: Engine, index: FileIndex, values: Values, step: Step) -> Values:
    """One destructuring step into these values."""
    how, key = step
    if how == "k":
        return evaluate.member(engine, index, values, key)
    if how == "i":
        return evaluate.subscript(engine, index, values, key)
    return values


def _of_put(engine: Engine, index: FileIndex, origin: Origin) -> Values:
    """The container that results from putting a value into it, by method or by key."""
    if origin.how == "push":
        call: Call = origin.of  # type: ignore[assignment]
        put = evaluate.evaluate(engine, index, origin.scope, call.args[-1].value)
        if isinstance(call.of, Attr) and call.of.name in ("extend", "update"):
            put = evaluate.elements(engine, index, put, -1)
        held = inside(put)
        return {Thing("list", (held,)): INFERRED} if held else NOTHING
    bind: Bind = origin.of  # type: ignore[assignment]
    values = evaluate.evaluate(engine, index, origin.scope, bind.value)
    for step in origin.steps:
        values = taken(engine, index, values, step)
    held = inside(values)
    key = getattr(bind.target, "key", None)
    return {Record(((key, held),)): INFERRED} if held else NOTHING
