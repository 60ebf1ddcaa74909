"""Classes: their bases in order, and their members."""

from __future__ import annotations

from typing import Any

from plugins.codegraph.linking import evaluate, names, overloads, results, types
from plugins.codegraph.linking.engine import Engine
from plugins.codegraph.linking.rules import BaseRules
from plugins.codegraph.linking.sheet import Origin, Sheet
from plugins.codegraph.linking.values import (
    INFERRED,
    NOTHING,
    SELF,
    Bound,
    Class,
    External,
    Func,
    Given,
    Instance,
    Method,
    Module,
    Record,
    Returns,
    Some,
    Thing,
    Tuple,
    Value,
    Values,
    Var,
    add,
    capped,
    outside,
    ranked,
)

Found = tuple[tuple[tuple[str, int], ...], Values, Class | External | None]
"""A member of a class: the scopes that define it, what else it may be, and the class that has it;
an external class where the member may be one of its; None where there is no such member."""

_MISSING: Found = ((), NOTHING, None)


def order(engine: Engine, path: str, scope: int) -> tuple[Class | External, ...]:
    """A class and its bases in the order in which members are searched."""
    found: tuple[Class | External, ...] = engine.solve(
        ("o", path, scope), _order, engine, path, scope
    )
    return found or (Class(path, scope),)


def _order(engine: Engine, path: str, number: int) -> tuple[Class | External, ...]:
    sheet = engine.there(path)
    own = Class(path, number)
    above: list[list[Class | External]] = []
    direct: list[Class | External] = []
    for base in bases(engine, sheet, number):
        direct.append(base)
        if isinstance(base, Class):
            if (base.path, base.scope) == (path, number):
                continue
            above.append(
                [applied(engine, base, each) for each in order(engine, base.path, base.scope)]
            )
        else:
            above.append([base])
    if sheet.rules.linear:
        merged = _merged([*above, direct])
        if merged is not None:
            return (own, *merged)
    seen: dict[Any, Class | External] = {}
    for line in above:
        for each in line:
            seen.setdefault(_identity(each), each)
    return (own, *seen.values())


def _identity(value: Class | External) -> tuple[str, int]:
    return (value.path, value.scope) if isinstance(value, Class) else (value.name, -1)


def _merged(lines: list[list[Class | External]]) -> list[Class | External] | None:
    """C3 linearisation, or None where there is none."""
    result: list[Class | External] = []
    todo = [line for line in lines if line]
    while todo:
        tails = {_identity(each) for line in todo for each in line[1:]}
        head = next((line[0] for line in todo if _identity(line[0]) not in tails), None)
        if head is None:
            return None
        result.append(head)
        chosen = _identity(head)
        todo = [line[1:] if _identity(line[0]) == chosen else line for line in todo]
        todo = [line for line in todo if line]
    return result


def bases(engine: Engine, sheet: Sheet, number: int) -> list[Class | External]:
    """The classes that a class names as its bases, unknown ones left out."""
    scope = sheet.scopes[number]
    found: list[Class | External] = []
    for expr in (*scope.bases, *scope.implements):
        for value in evaluate.evaluate(engine, sheet, scope.parent, expr):
            if isinstance(value, Class | External):
                found.append(value)
            elif isinstance(value, Instance | Thing):
                found += [
                    each
                    for each in types.classes_of((value,))
                    if isinstance(each, Class | External)
                ]
    for path, outer in _extending(engine, sheet, number):
        other = engine.there(path)
        if other.scopes[outer].kind == "class":
            found += bases(engine, other, outer)
    return found


def applied(engine: Engine, base: Class, each: Class | External) -> Class | External:
    """A class above a base, with the base's type arguments put in."""
    if not base.args or not isinstance(each, Class):
        return each
    if (each.path, each.scope) == (base.path, base.scope):
        return base
    if not each.args:
        return each
    given = type_arguments(engine, base)
    return Class(each.path, each.scope, tuple(filled_some(part, given) for part in each.args))


def type_arguments(engine: Engine, of: Class | Instance) -> dict[str, Some]:
    """The type arguments of a class by the names of its parameters."""
    if not of.args:
        return {}
    named = engine.solve(("tv", of.path, of.scope), _type_parameters, engine, of.path, of.scope)
    return dict(zip(named, of.args, strict=False))


def _type_parameters(engine: Engine, path: str, number: int) -> tuple[str, ...]:
    sheet = engine.there(path)
    scope = sheet.scopes[number]
    found = [word[8:] for word in scope.modifiers if word.startswith("typevar:")]
    if not found:
        for expr in scope.bases:
            for value in evaluate.evaluate(engine, sheet, scope.parent, expr):
                args = getattr(value, "args", ())
                found += [each.name for part in args for each in part if isinstance(each, Var)]
    return tuple(dict.fromkeys(found))


def filled_some(values: Some, given: dict[str, Some]) -> Some:
    """Values with type parameters replaced by what was given for them."""
    found: list[Value] = []
    for value in values:
        found += _filled(value, given)
    return tuple(dict.fromkeys(found))


def _filled(value: Value, given: dict[str, Some]) -> Some:
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
    """Values with type parameters replaced by what was given for them."""
    if not given or not any(
        isinstance(v, Var | Instance | Thing | Tuple | Returns) for v in values
    ):
        return values
    found: Values = {}
    for value, rank in values.items():
        add(found, outside(_filled(value, given), rank))
    return found


def _extending(engine: Engine, sheet: Sheet, number: int) -> tuple[tuple[str, int], ...]:
    """The scopes that define members of a class from outside of it."""
    if not sheet.scopes[number].name:
        return ()
    if not sheet.extended and type(sheet.rules).extensions is BaseRules.extensions:
        return ()
    key = ("x", sheet.path, number)
    found: tuple[tuple[str, int], ...] = engine.solve(key, _extended, engine, sheet.path, number)
    return found


def _extended(engine: Engine, path: str, number: int) -> tuple[tuple[str, int], ...]:
    sheet = engine.there(path)
    name = sheet.scopes[number].name
    found = []
    for each in sheet.rules.extensions(path, sheet.facts):
        other = engine.sheet(each)
        if other is None:
            continue
        for outer in other.extended.get(name, ()):
            scope = other.scopes[outer]
            types_of = types.stated(engine, other, scope.parent, scope.receiver)
            if any(
                isinstance(v, Instance) and (v.path, v.scope) == (path, number) for v in types_of
            ):
                found.append((each, outer))
    return tuple(found)


def own_origins(engine: Engine, path: str, number: int, name: str) -> list[tuple[Sheet, Origin]]:
    """Where a class itself has a member from."""
    sheet = engine.there(path)
    found = [(sheet, each) for each in sheet.names[number].get(name, ()) if each.how != "typevar"]
    fields = sheet.fields.get(number)
    if fields is not None:
        found += [(sheet, each) for each in fields.get(name, ())]
    for other_path, outer in _extending(engine, sheet, number):
        other = engine.there(other_path)
        scope = other.scopes[outer]
        if scope.kind == "function":
            if scope.name == name:
                found.append((other, Origin("scope", scope.parent, outer)))
        else:
            found += [(other, each) for each in other.names[outer].get(name, ())]
    return found


def find(engine: Engine, path: str, scope: int, name: str) -> Found:
    """A member of a class, its own or inherited."""
    found: Found = engine.solve(("cm", path, scope, name), _find, engine, path, scope, name)
    return found or _MISSING


def _find(engine: Engine, path: str, scope: int, name: str) -> Found:
    return search(engine, order(engine, path, scope), name)


def search(engine: Engine, classes: tuple[Class | External, ...], name: str) -> Found:
    """The first of these classes that has a member, and what it is."""
    outside_of: External | None = None
    empty: Found | None = None
    for each in classes:
        if isinstance(each, External):
            if outside_of is None and each.name.rpartition(".")[2] not in _NO_MEMBERS:
                outside_of = each
            continue
        origins = own_origins(engine, each.path, each.scope, name)
        if not origins:
            continue
        defined, values = _told(engine, origins)
        if defined or values:
            return (_overloaded(engine, classes, each, name, defined), values, each)
        empty = empty or ((), NOTHING, each)
    if empty is not None:
        return empty
    return _MISSING if outside_of is None else ((), NOTHING, outside_of)


def _inherent(engine: Engine, defined: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Of a type's functions of one name, its own before those that it has for a trait."""
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
    """With the functions of this name that the classes above add for other arguments."""
    rules = engine.there(owner.path).rules
    if not rules.overloads or not defined or name in rules.constructors:
        return defined
    if rules.hides:
        return _inherent(engine, defined)
    found = list(defined)
    seen = {overloads.shape(engine.there(path), number) for path, number in defined}
    for each in classes[classes.index(owner) + 1 :]:
        if isinstance(each, Class):
            for sheet, origin in own_origins(engine, each.path, each.scope, name):
                shape = overloads.shape(sheet, origin.number) if origin.how == "scope" else ()
                if origin.how == "scope" and shape not in seen:
                    seen.add(shape)
                    found.append((sheet.path, origin.number))
    return tuple(found)


_NO_MEMBERS = {"object", "ABC", "Protocol", "Generic", "Object"}
"""Bases that add no member that matters: a member unknown to the class is not theirs."""


def _told(
    engine: Engine, origins: list[tuple[Sheet, Origin]]
) -> tuple[tuple[tuple[str, int], ...], Values]:
    defined: list[tuple[str, int]] = []
    others: dict[str, list[Origin]] = {}
    sheets: dict[str, Sheet] = {}
    several = sum(origin.how == "scope" for _, origin in origins) > 1
    for sheet, origin in origins:
        if origin.how == "scope":
            modifiers = sheet.scopes[origin.number].modifiers
            if several and ("overload" in modifiers or "setter" in modifiers):
                continue
            defined.append((sheet.path, origin.number))
        else:
            others.setdefault(sheet.path, []).append(origin)
            sheets[sheet.path] = sheet
    values: Values = {}
    for path, several_origins in others.items():
        add(values, names.of_origins(engine, sheets[path], several_origins))
    return tuple(defined), capped(values)


def seen_inside(engine: Engine, sheet: Sheet, number: int, name: str) -> Values | None:
    """A bare name among the members of a class around, or None where it has no such member."""
    defined, values, owner = find(engine, sheet.path, number, name)
    if owner is None or isinstance(owner, External):
        return None
    own = Instance(sheet.path, number, own=True)
    return _as_member(engine, own, SELF, defined, values, owner)


def member(engine: Engine, sheet: Sheet, value: Value, rank: int, name: str) -> Values:
    """A member of a value."""
    kind = type(value)
    if kind is Instance:
        return of_instance(engine, value, rank, name)  # type: ignore[arg-type]
    if kind is Class:
        return _of_class(engine, value, rank, name)  # type: ignore[arg-type]
    if kind is Module:
        return ranked(names.module_member(engine, value.target, name), rank)  # type: ignore[union-attr]
    if kind is External:
        return {External(f"{value.name}.{name}"): rank}  # type: ignore[union-attr]
    if kind is Var:
        return _of_some(engine, sheet, value.bound, rank, name)  # type: ignore[union-attr]
    if kind is Given:
        return evaluate.members(engine, sheet, results.given(engine, value), name)  # type: ignore[arg-type]
    return _of_thing(engine, sheet, value, rank, name)


def _of_some(engine: Engine, sheet: Sheet, values: Some, rank: int, name: str) -> Values:
    return evaluate.members(engine, sheet, outside(values, rank), name)


def _of_thing(engine: Engine, sheet: Sheet, value: Value, rank: int, name: str) -> Values:
    """A member of an object of an external type, or of a function."""
    rules = sheet.rules
    if isinstance(value, Record):
        parts = [part for key, part in value.items if key == name]
        if parts:
            return dict.fromkeys([each for part in parts for each in part], rank)
    word = rules.methods.get(name)
    if word is not None and not (
        isinstance(value, Thing)
        and value.name not in rules.containers
        and value.name not in rules.unwraps
    ):
        return {Method(word, value): rank}
    if isinstance(value, Thing):
        place = rules.unwraps.get(value.name)
        if place is not None and -len(value.args) <= place < len(value.args):
            found = _of_some(engine, sheet, value.args[place], rank, name)
            if found:
                return found
        return {External(f"{value.name}.{name}"): rank}
    if isinstance(value, Func | Bound | Returns):
        return {External(f"function.{name}"): rank}
    if isinstance(value, Tuple | Record | Method):
        return {External(f"object.{name}"): rank}
    return NOTHING


def of_instance(engine: Engine, value: Instance, rank: int, name: str) -> Values:
    """A member of an object."""
    defined, values, owner = find(engine, value.path, value.scope, name)
    if owner is None:
        return _inborn(engine, value, rank, name)
    if isinstance(owner, External):
        return {External(f"{owner.name}.{name}"): rank}
    return _as_member(engine, value, rank, defined, values, owner)


def _inborn(engine: Engine, value: Instance | Class, rank: int, name: str) -> Values:
    """A member that every object has."""
    rules = engine.there(value.path).rules
    if name not in rules.inborn:
        return NOTHING
    word = rules.methods.get(name)
    return {External(f"object.{name}") if word is None else Method(word, value): rank}


def _as_member(
    engine: Engine,
    value: Instance,
    rank: int,
    defined: tuple[tuple[str, int], ...],
    values: Values,
    owner: Class,
) -> Values:
    found: Values = {}
    for path, number in defined:
        sheet = engine.there(path)
        scope = sheet.scopes[number]
        if scope.kind == "class":
            found[Class(path, number)] = rank
            continue
        words = scope.modifiers
        if "property" in words:
            made = results.result(engine, Func(path, number))
            add(found, results.seen_from(engine, made, value, owner), rank)
            continue
        for each, own in results.decorated(engine, sheet, number).items():
            if type(each) is Func and "static" not in words:
                whom: Value = value
                if "classmethod" in words:
                    whom = Class(value.path, value.scope, value.args)
                found[Bound(each, whom)] = rank if rank > own else own
            else:
                found[each] = rank if rank > own else own
    if values:
        add(found, results.seen_from(engine, values, value, owner), rank)
    return found


def _of_class(engine: Engine, value: Class, rank: int, name: str) -> Values:
    defined, values, owner = find(engine, value.path, value.scope, name)
    if owner is None:
        return _inborn(engine, value, rank, name)
    if isinstance(owner, External):
        return {External(f"{owner.name}.{name}"): rank}
    found: Values = {}
    for path, number in defined:
        sheet = engine.there(path)
        scope = sheet.scopes[number]
        if scope.kind == "class":
            found[Class(path, number)] = rank
            continue
        for each, own in results.decorated(engine, sheet, number).items():
            kept: Value = each
            if type(each) is Func and "classmethod" in scope.modifiers:
                kept = Bound(each, value)
            found[kept] = rank if rank > own else own
    if _is_enum(engine, value) and not defined:
        found[Instance(value.path, value.scope)] = rank
    elif values:
        add(found, values, rank)
    return found


def setter(engine: Engine, value: Instance, name: str) -> tuple[str, int] | None:
    """The function that assigning to a member runs, if it is a property."""
    for each in order(engine, value.path, value.scope):
        if isinstance(each, Class):
            origins = own_origins(engine, each.path, each.scope, name)
            for sheet, origin in origins:
                if origin.how == "scope" and "setter" in sheet.scopes[origin.number].modifiers:
                    return sheet.path, origin.number
            if origins:
                return None
    return None


def _is_enum(engine: Engine, value: Class) -> bool:
    if "enum" in engine.there(value.path).scopes[value.scope].modifiers:
        return True
    return any(
        isinstance(each, External) and each.name.rpartition(".")[2] in _ENUMS
        for each in order(engine, value.path, value.scope)
    )


_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


def enumerated(engine: Engine, value: Class, rank: int) -> Values:
    """What iterating over a class gives: an enumeration's members."""
    if _is_enum(engine, value):
        return {Instance(value.path, value.scope): rank}
    return NOTHING


def inherited(engine: Engine, sheet: Sheet, number: int, name: str) -> Values:
    """A member of ``super()``."""
    found: Values = {}
    for own, rank in _around(engine, sheet, number).items():
        if not isinstance(own, Instance):
            continue
        above = order(engine, own.path, own.scope)[1:]
        defined, values, owner = search(engine, above, name)
        if isinstance(owner, External):
            found[External(f"{owner.name}.{name}")] = rank
        elif owner is not None:
            add(found, _as_member(engine, own, rank, defined, values, owner))
        elif name.startswith("__") or not above or name in sheet.rules.constructors:
            found[External(f"object.{name}")] = rank
    return found


def _around(engine: Engine, sheet: Sheet, number: int) -> Values:
    while number > 0:
        scope = sheet.scopes[number]
        if scope.kind == "class" or scope.receiver is not None:
            return names.own_object(engine, sheet, number)
        number = scope.parent
    return NOTHING


def bases_around(engine: Engine, sheet: Sheet, number: int) -> Values:
    """What ``super`` itself stands for: the direct bases' objects, or their classes when called."""
    found: Values = {}
    for own, rank in _around(engine, sheet, number).items():
        if isinstance(own, Instance):
            for base in bases(engine, engine.there(own.path), own.scope):
                found[base] = max(rank, SELF)
    return found


def iterated(engine: Engine, sheet: Sheet, value: Instance, rank: int) -> Values:
    """What iterating over an object gives."""
    for first, then in sheet.rules.iterates:
        made = results.of_method(engine, sheet, value, rank, first)
        if not made:
            continue
        found: Values = {}
        for each, own in made.items():
            if isinstance(each, Instance):
                add(found, results.of_method(engine, sheet, each, own, then))
            else:
                add(found, evaluate.elements(engine, sheet, {each: own}, -1))
        return found
    return _of_outer_base(engine, sheet, value, rank)


def _of_outer_base(engine: Engine, sheet: Sheet, value: Instance, rank: int) -> Values:
    for base in order(engine, value.path, value.scope)[1:]:
        if isinstance(base, External):
            name = base.name.rpartition(".")[2]
            if name in sheet.rules.containers and base.args:
                thing = Thing(name, base.args)
                return evaluate.elements(engine, sheet, {thing: max(rank, INFERRED)}, -1)
    return NOTHING
