"""Members of values: of objects, classes, modules and external things."""

from __future__ import annotations

from plugins.codegraph.languages.rules import Rules
from plugins.codegraph.linker import (
    classes,
    decorators,
    evaluate,
    modules,
    mro,
    names,
    parameters,
    results,
)
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.values import (
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
    Value,
    Values,
    Var,
    add,
    outside,
    ranked,
)


def seen_inside(engine: Engine, index: FileIndex, number: int, name: str) -> Values | None:
    """The value of a bare name as a member of the enclosing class; None if it has no such
    member."""
    defined, values, owner = classes.find(engine, index.path, number, name)
    if owner is None or isinstance(owner, External):
        return None
    own = Instance(index.path, number, own=True)
    return as_member(engine, own, SELF, defined, values, owner)


def member(engine: Engine, index: FileIndex, value: Value, rank: int, name: str) -> Values:
    """A member of a value."""
    kind = type(value)
    if kind is Instance:
        return of_instance(engine, value, rank, name)  # type: ignore[arg-type]
    if kind is Class:
        return _of_class(engine, value, rank, name)  # type: ignore[arg-type]
    if kind is Module:
        return ranked(modules.module_member(engine, value.target, name), rank)  # type: ignore[union-attr]
    if kind is External:
        return {External(f"{value.name}.{name}"): rank}  # type: ignore[union-attr]
    if kind is Var:
        return _of_some(engine, index, value.bound, rank, name)  # type: ignore[union-attr]
    if kind is Given:
        return evaluate.member(engine, index, parameters.given(engine, value), name)  # type: ignore[arg-type]
    return _of_thing(engine, index, value, rank, name)


def _of_some(engine: Engine, index: FileIndex, values: Some, rank: int, name: str) -> Values:
    return evaluate.member(engine, index, outside(values, rank), name)


def _of_thing(engine: Engine, index: FileIndex, value: Value, rank: int, name: str) -> Values:
    """A member of an object of an external type, or of a function."""
    rules = index.rules
    if isinstance(value, Record):
        any_key = rules.member_writes and name not in rules.methods
        parts = [part for key, part in value.items if key == name or (key is None and any_key)]
        if parts:
            return outside(tuple(each for part in parts for each in part), rank)
    word = rules.methods.get(name)
    if word is not None and _holds(rules, value):
        return {Method(word, value): rank}
    if isinstance(value, Thing):
        place = rules.unwraps.get(value.name)
        if place is not None and -len(value.args) <= place < len(value.args):
            found = _of_some(engine, index, value.args[place], rank, name)
            if found:
                return found
        return {External(f"{value.name}.{name}"): rank}
    kind = "function" if isinstance(value, Func | Bound | Returns) else "object"
    return {External(f"{kind}.{name}"): rank}


def _holds(rules: Rules, value: Value) -> bool:
    """Whether a value may be a container, so that container methods apply to it."""
    if not isinstance(value, Thing):
        return True
    return value.name in rules.containers or value.name in rules.unwraps


def of_instance(engine: Engine, value: Instance, rank: int, name: str) -> Values:
    """A member of an object."""
    defined, values, owner = classes.find(engine, value.path, value.scope, name)
    if owner is None:
        return _inborn(engine, value, rank, name)
    if isinstance(owner, External):
        return {External(f"{owner.name}.{name}"): rank}
    return as_member(engine, value, rank, defined, values, owner)


def _inborn(engine: Engine, value: Instance | Class, rank: int, name: str) -> Values:
    """A member that every object of the language has."""
    rules = engine.there(value.path).rules
    if name not in rules.inborn:
        return NOTHING
    word = rules.methods.get(name)
    return {External(f"object.{name}") if word is None else Method(word, value): rank}


def as_member(
    engine: Engine,
    value: Instance,
    rank: int,
    defined: tuple[tuple[str, int], ...],
    values: Values,
    owner: Class,
) -> Values:
    """Turn a member found in a class into a member of one of its objects: bind methods, call
    properties."""
    found: Values = {}
    for path, number in defined:
        index = engine.there(path)
        scope = index.scopes[number]
        if scope.kind == "class":
            found[Class(path, number)] = rank
            continue
        words = scope.modifiers
        if "property" in words:
            made = results.result(engine, Func(path, number))
            add(found, results.seen_from(engine, made, value, owner), rank)
            continue
        for each, own in decorators.decorated(engine, index, number).items():
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
    defined, values, owner = classes.find(engine, value.path, value.scope, name)
    if owner is None:
        return _inborn(engine, value, rank, name)
    if isinstance(owner, External):
        return {External(f"{owner.name}.{name}"): rank}
    found: Values = {}
    for path, number in defined:
        _static(engine, path, number, value, rank, found)
    if is_enum(engine, value) and not defined:
        found[Instance(value.path, value.scope)] = rank
    elif values:
        add(found, values, rank)
    return found


def _static(engine: Engine, path: str, number: int, value: Class, rank: int, into: Values) -> None:
    """Add a definition found in a class, accessed through the class itself."""
    index = engine.there(path)
    scope = index.scopes[number]
    if scope.kind == "class":
        into[Class(path, number)] = rank
        return
    for each, own in decorators.decorated(engine, index, number).items():
        kept: Value = each
        if type(each) is Func and "classmethod" in scope.modifiers:
            kept = Bound(each, value)
        into[kept] = rank if rank > own else own


def is_enum(engine: Engine, value: Class) -> bool:
    """Whether a class is an enumeration."""
    if "enum" in engine.there(value.path).scopes[value.scope].modifiers:
        return True
    return any(
        isinstance(each, External) and each.name.rpartition(".")[2] in _ENUMS
        for each in mro.order(engine, value.path, value.scope)
    )


_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}


def enumerated(engine: Engine, value: Class, rank: int) -> Values:
    """What iterating over a class gives: the members of an enumeration, else nothing."""
    if is_enum(engine, value):
        return {Instance(value.path, value.scope): rank}
    return NOTHING


def inherited(engine: Engine, index: FileIndex, number: int, name: str) -> Values:
    """The member ``name`` of ``super()``."""
    found: Values = {}
    for own, rank in around(engine, index, number).items():
        if not isinstance(own, Instance):
            continue
        above = mro.order(engine, own.path, own.scope)[1:]
        defined, values, owner = classes.search(engine, above, name)
        if isinstance(owner, External):
            found[External(f"{owner.name}.{name}")] = rank
        elif owner is not None:
            add(found, as_member(engine, own, rank, defined, values, owner))
        elif name.startswith("__") or not above or name in index.rules.constructors:
            found[External(f"object.{name}")] = rank
    return found


def around(engine: Engine, index: FileIndex, number: int) -> Values:
    """The object (``self``) of the enclosing class."""
    while number > 0:
        scope = index.scopes[number]
        if scope.kind == "class" or scope.receiver is not None:
            return names.own_object(engine, index, number)
        number = scope.parent
    return NOTHING


def bases_around(engine: Engine, index: FileIndex, number: int) -> Values:
    """The values of ``super`` itself: the direct bases."""
    found: Values = {}
    for own, rank in around(engine, index, number).items():
        if isinstance(own, Instance):
            for base in mro.bases(engine, engine.there(own.path), own.scope):
                found[base] = max(rank, SELF)
    return found


def iterated(engine: Engine, index: FileIndex, value: Instance, rank: int) -> Values:
    """What iterating over an object gives."""
    for first, then in index.rules.iterates:
        made = results.of_method(engine, index, value, rank, first)
        if not made:
            continue
        found: Values = {}
        for each, own in made.items():
            if isinstance(each, Instance):
                add(found, results.of_method(engine, index, each, own, then))
            else:
                add(found, evaluate.elements(engine, index, {each: own}, -1))
        return found
    return evaluate.elements(engine, index, as_container(engine, index, value, rank), -1)


def as_container(engine: Engine, index: FileIndex, value: Instance, rank: int) -> Values:
    """An object as the external container type that its class inherits from (``class
    Rows(list[Row])``)."""
    for base in mro.order(engine, value.path, value.scope)[1:]:
        if isinstance(base, External):
            name = base.name.rpartition(".")[2]
            if name in index.rules.containers and base.args:
                return {Thing(name, base.args): max(rank, INFERRED)}
    return NOTHING
