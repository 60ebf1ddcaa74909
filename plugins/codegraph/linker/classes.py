"""Members of classes, own and inherited."""

from __future__ import annotations

from plugins.codegraph.linker import evaluate, modules, mro, names, overloads
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex, Origin
from plugins.codegraph.linker.values import (
    NOTHING,
    Class,
    External,
    Instance,
    Module,
    Record,
    Values,
    add,
    capped,
    outside,
)

Found = tuple[tuple[tuple[str, int], ...], Values, Class | External | None]
"""The result of a member lookup: the (path, scope) places that define it, its other possible
values, and its owner. The owner is external where an external base may define the member, and None
where no class has it."""

_MISSING: Found = ((), NOTHING, None)


def own_origins(
    engine: Engine, path: str, number: int, name: str
) -> list[tuple[FileIndex, Origin]]:
    """The origins of a member in the class itself: its body, its fields, and extensions from
    outside."""
    index = engine.there(path)
    found = [(index, each) for each in index.names[number].get(name, ()) if each.how != "typevar"]
    fields = index.fields.get(number)
    if fields is not None:
        found += [(index, each) for each in fields.get(name, ())]
    for other_path, outer in mro.extending(engine, index, number):
        other = engine.there(other_path)
        scope = other.scopes[outer]
        if scope.kind == "function":
            if scope.name == name:
                found.append((other, Origin("scope", scope.parent, outer)))
        else:
            found += [(other, each) for each in other.names[outer].get(name, ())]
    return found


def find(engine: Engine, path: str, scope: int, name: str) -> Found:
    """Look up a member of a class, its own or inherited."""
    found: Found = engine.solve(("cm", path, scope, name), _find, engine, path, scope, name)
    return found or _MISSING


def _find(engine: Engine, path: str, scope: int, name: str) -> Found:
    found = search(engine, mro.order(engine, path, scope), name)
    if found[2] is None or isinstance(found[2], External):
        return _spread(engine, path, scope, name) or found
    return found


def _spread(engine: Engine, path: str, scope: int, name: str) -> Found | None:
    """A member of an object literal that comes from the modules and tables spread into it."""
    index = engine.there(path)
    written = index.scopes[scope]
    if "object" not in written.modifiers:
        return None
    found: Values = {}
    for base in written.bases:
        for value, rank in evaluate.evaluate(engine, index, written.parent, base).items():
            if isinstance(value, Module):
                add(found, modules.module_member(engine, value.target, name), rank)
            elif isinstance(value, Record):
                parts = [part for key, part in value.items if key == name]
                add(found, outside(tuple(each for part in parts for each in part), rank))
    return ((), capped(found), Class(path, scope)) if found else None


def search(engine: Engine, classes: tuple[Class | External, ...], name: str) -> Found:
    """Look up a member along these classes; the first class that has it wins."""
    outside_of: External | None = None
    empty: Found | None = None
    for each in classes:
        if isinstance(each, External):
            if outside_of is None and each.name.rpartition(".")[2] not in NO_MEMBERS:
                outside_of = each
            continue
        origins = own_origins(engine, each.path, each.scope, name)
        if not origins:
            continue
        defined, values = partition_origins(engine, origins)
        if defined or values:
            return (_overloaded(engine, classes, each, name, defined), values, each)
        empty = empty or ((), NOTHING, each)
    if empty is not None:
        return empty
    return _MISSING if outside_of is None else ((), NOTHING, outside_of)


def _inherent(engine: Engine, defined: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The type's own functions of a name if there are any, else those that it has for a trait."""
    own = []
    for path, number in defined:
        scopes = engine.there(path).scopes
        if not scopes[scopes[number].parent].implements:
            own.append((path, number))
    return tuple(own) or defined


def _overloaded(
    engine: Engine,
    classes: tuple[Class | External, ...],
    owner: Class,
    name: str,
    defined: tuple[tuple[str, int], ...],
) -> tuple[tuple[str, int], ...]:
    """Add the inherited overloads: functions of the same name with other parameter types in the
    classes above the owner."""
    rules = engine.there(owner.path).rules
    if not rules.overloads or not defined or name in rules.constructors:
        return defined
    if rules.hides:
        return _inherent(engine, defined)
    found = list(defined)
    seen = {overloads.shape(engine.there(path), number) for path, number in defined}
    for each in classes[classes.index(owner) + 1 :]:
        if isinstance(each, Class):
            for index, origin in own_origins(engine, each.path, each.scope, name):
                shape = overloads.shape(index, origin.number) if origin.how == "scope" else ()
                if origin.how == "scope" and shape not in seen:
                    seen.add(shape)
                    found.append((index.path, origin.number))
    return tuple(found)


NO_MEMBERS = {"object", "ABC", "Protocol", "Generic", "Object"}
"""External bases that define no member of interest: an unknown member does not come from them."""


def partition_origins(
    engine: Engine, origins: list[tuple[FileIndex, Origin]]
) -> tuple[tuple[tuple[str, int], ...], Values]:
    """Split a member's origins into the (path, scope) places that define it and its other
    values."""
    defined: list[tuple[str, int]] = []
    others: dict[str, list[Origin]] = {}
    indexes: dict[str, FileIndex] = {}
    several = sum(origin.how == "scope" for _, origin in origins) > 1
    for index, origin in origins:
        if origin.how == "scope":
            modifiers = index.scopes[origin.number].modifiers
            if several and ("overload" in modifiers or "setter" in modifiers):
                continue
            defined.append((index.path, origin.number))
        else:
            others.setdefault(index.path, []).append(origin)
            indexes[index.path] = index
    values: Values = {}
    for path, several_origins in others.items():
        add(values, names.of_origins(engine, indexes[path], several_origins))
    return tuple(defined), capped(values)


def setter(engine: Engine, value: Instance, name: str) -> tuple[str, int] | None:
    """The setter that assigning to a member calls, as (path, scope); None if it is no property."""
    for each in mro.order(engine, value.path, value.scope):
        if isinstance(each, Class):
            origins = own_origins(engine, each.path, each.scope, name)
            for index, origin in origins:
                if origin.how == "scope" and "setter" in index.scopes[origin.number].modifiers:
                    return index.path, origin.number
            if origins:
                return None
    return None
