"""What names stand for: in the scopes around, in modules, through imports."""

from __future__ import annotations

from collections.abc import Iterable

from plugins.codegraph.facts import Attr, Bind, Call, Import, Scope
from plugins.codegraph.linking import classes, evaluate, results, types
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.rules import Target
from plugins.codegraph.linking.sheet import Origin, Sheet, Step
from plugins.codegraph.linking.values import (
    DECLARED,
    IMPORT,
    INFERRED,
    NOTHING,
    SCOPE,
    SELF,
    Class,
    External,
    Func,
    Instance,
    Module,
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
    rules = sheet.rules
    if name in rules.own_types or name in rules.receivers:
        found = _own(engine, sheet, number, name)
        if found is not None:
            return found
    scopes = sheet.scopes
    current = number
    while current >= 0:
        scope = scopes[current]
        names = sheet.names[current]
        if scope.kind == "class" and (current != number or not rules.body_sees_members):
            if name in names and _seen_within(scope, names[name]):
                return bound(engine, sheet, current, name)
            if rules.class_scopes:
                inherited = classes.seen_inside(engine, sheet, current, name)
                if inherited is not None:
                    return inherited
        elif name in names:
            return bound(engine, sheet, current, name)
        elif rules.class_scopes and scope.kind == "class":
            inherited = classes.seen_inside(engine, sheet, current, name)
            if inherited is not None:
                return inherited
        if current in sheet.stars:
            starred = _starred(engine, sheet, sheet.stars[current], name)
            if starred:
                return starred
        current = scope.parent
    return _outside(engine, sheet, number, name)


def _seen_within(scope: Scope, origins: list[Origin]) -> bool:
    """Whether a class scope's name is seen by what is in it: a type parameter, or anything where
    the scope is that of a module within a file (``namespace``)."""
    return "namespace" in scope.modifiers or any(each.how == "typevar" for each in origins)


def _own(engine: Engine, sheet: Sheet, number: int, name: str) -> Values | None:
    """The object or the class around."""
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


def _outside(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    """A name that no scope of the file binds."""
    for path in sheet.rules.besides(sheet.path, sheet.facts, name):
        other = engine.sheet(path) if path != sheet.path else None
        if other is not None and name in other.names[0]:
            return bound(engine, other, 0, name)
    target = sheet.rules.named(sheet.path, sheet.scopes[number], name)
    if target is not None:
        return _as_module(target, name)
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
    stated: Values = {}
    for each in origins:
        if each.how == "bind" and each.of.type is not None:  # type: ignore[union-attr]
            add(stated, of_origin(engine, sheet, each))
    if types.telling(sheet, stated):
        for each in origins:
            if each.how == "scope" and "interface" in sheet.scopes[each.number].modifiers:
                add(stated, of_origin(engine, sheet, each))
        return stated
    found: Values = dict(stated)
    defined = [each for each in origins if each.how == "scope"]
    hidden = {"overload", "setter"}
    for each in origins:
        if each.how == "scope" and len(defined) > 1:
            if hidden.intersection(sheet.scopes[each.number].modifiers):
                continue
        add(found, of_origin(engine, sheet, each))
    return found


def of_origin(engine: Engine, sheet: Sheet, origin: Origin) -> Values:
    """What one origin gives."""
    how = origin.how
    if how == "scope":
        return results.decorated(engine, sheet, origin.number)
    if how == "import":
        return imported(engine, sheet, origin.of)  # type: ignore[arg-type]
    if how == "bind":
        return _of_bind(engine, sheet, origin)
    if how == "param":
        return results.param(engine, Func(sheet.path, origin.scope), origin.number)
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
        return evaluate.members(engine, sheet, values, key)
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


def imported(engine: Engine, sheet: Sheet, each: Import) -> Values:
    """What an imported name stands for."""
    if not each.module and not each.level:
        return ranked(bound(engine, sheet, 0, each.symbol), IMPORT)
    target = engine.target(sheet, each)
    if not each.symbol or each.symbol == "*":
        found = _whole(engine, target)
        return ranked(found, IMPORT) if found else _as_module(target, each.module)
    if target.external:
        return {External(f"{target.name or each.module}.{each.symbol}"): IMPORT}
    found = module_member(engine, target, each.symbol)
    if found:
        return ranked(found, IMPORT)
    inner = sheet.rules.submodule(sheet.path, target, each.symbol)
    return NOTHING if inner is None else _as_module(inner, each.symbol)


def _whole(engine: Engine, target: Target) -> Values:
    """The value that a module exports as a whole, with the module for what it adds to it."""
    for path in target.paths:
        sheet = engine.sheet(path)
        if sheet is not None and sheet.rules.whole in sheet.names[0]:
            found = bound(engine, sheet, 0, sheet.rules.whole)
            exports = any(each.exported and not each.module for each in sheet.scopes[0].imports)
            return {**found, Module(target): IMPORT} if found and exports else found
    return NOTHING


def _of_whole(engine: Engine, sheet: Sheet, name: str) -> Values:
    """A member of the value that a module exports as a whole; ``default`` is that value."""
    if sheet.rules.whole not in sheet.names[0]:
        if name == "default" and sheet.rules.whole and not _has_default(sheet):
            return {Module(Target(paths=(sheet.path,))): IMPORT}
        return NOTHING
    found = bound(engine, sheet, 0, sheet.rules.whole)
    return found if name == "default" else evaluate.members(engine, sheet, found, name)


def _has_default(sheet: Sheet) -> bool:
    """Whether a file is a module of its own kind, whose default export is what it says it is."""
    return not any(each.symbol.startswith("exports.") for each in sheet.scopes[0].imports)


def _as_module(target: Target, name: str) -> Values:
    if target.external:
        return {External(target.name or name): IMPORT}
    if target.paths or target.directories:
        return {Module(target): IMPORT}
    return NOTHING


def module_member(engine: Engine, target: Target, name: str) -> Values:
    """What a name of a module's top level stands for, or one of its submodules."""
    found: Values = engine.solve(("m", target, name), _module_member, engine, target, name)
    return found


def _module_member(engine: Engine, target: Target, name: str) -> Values:
    if target.within:
        outer = Target(target.paths, target.directories, within=target.within[:-1])
        return _static_member(engine, module_member(engine, outer, target.within[-1]), name)
    sheet = None
    for path in target.paths:
        sheet = engine.sheet(path)
        if sheet is None:
            continue
        for each in sheet.scopes[0].imports:
            if each.exported == name and name != "*":
                return imported(engine, sheet, each)
        origins = sheet.names[0].get(name)
        if origins and (sheet.rules.imports_exported or any(o.how != "import" for o in origins)):
            return bound(engine, sheet, 0, name)
        starred = _starred(engine, sheet, sheet.stars.get(0, ()), name)
        if starred:
            return starred
        found = _of_whole(engine, sheet, name)
        if found:
            return found
    if sheet is None:
        for directory in target.directories:
            sheet = next(_any_sheet(engine, directory), None)
    if sheet is not None:
        inner = sheet.rules.submodule(sheet.path, target, name)
        if inner is not None:
            return _as_module(inner, name)
    return NOTHING


def _static_member(engine: Engine, owners: Values, name: str) -> Values:
    found: Values = {}
    for owner, rank in owners.items():
        if isinstance(owner, Class):
            add(found, classes.member(engine, engine.there(owner.path), owner, rank, name))
    return found


def _any_sheet(engine: Engine, directory: str) -> Iterable[Sheet]:  # type: ignore[misc]
    for path in engine.world.directory(directory):
        sheet = engine.sheet(path)
        if sheet is not None:
            yield sheet


def _starred(engine: Engine, sheet: Sheet, stars: Iterable[Import], name: str) -> Values:
    """A name that comes by ``import *``."""
    hidden = name.startswith("_") and sheet.rules.stars_hide
    if hidden or name == "default":
        return NOTHING
    for each in stars:
        target = engine.target(sheet, each)
        if target.paths:
            found = module_member(engine, target, name)
            if found:
                return ranked(found, IMPORT)
    return NOTHING
