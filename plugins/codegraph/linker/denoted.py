"""What a name denotes: the definitions that it leads to, rather than the values they may have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from plugins.codegraph.facts import Attr, Bind, Expr, Import, Inner, Name, OneOf, Super
from plugins.codegraph.languages.rules import Target
from plugins.codegraph.linker import classes, evaluate, members, modules, mro, names
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex, Origin
from plugins.codegraph.linker.parameters import given
from plugins.codegraph.linker.values import (
    IMPORT,
    SCOPE,
    SELF,
    Bound,
    Class,
    External,
    Func,
    Given,
    Instance,
    Module,
    Rank,
    Record,
    Thing,
    Value,
    Values,
    Var,
    outside,
)
from plugins.codegraph.model import EntityKind

Place = tuple[str, int]
"""A definition: its file, and its number there."""
_MAX_HOPS = 12
"""The most re-exports that are followed."""
_LOCAL = frozenset({"param", "bind", "item", "push"})


@dataclass(slots=True)
class Denoted:
    """What one name denotes.

    Attributes:
        found: the definitions, with the rank of each.
        known: whether it is known to denote something else: a local variable, something outside
            of the repository, a whole module.
        outer: whether it is no definition, but a member of what is nothing but outside of the
            repository.
    """

    found: dict[Place, Rank] = field(default_factory=dict)
    known: bool = False
    outer: bool = False

    def __bool__(self) -> bool:
        return self.known or bool(self.found)

    def add(self, other: Denoted, rank: Rank = 0) -> None:
        """Merge another one, none of its definitions more certain than ``rank``."""
        self.known = self.known or other.known
        for place, own in other.found.items():
            self.found[place] = min(max(own, rank), self.found.get(place, own + rank))


def denoted(engine: Engine, index: FileIndex, number: int, of: Expr, as_type: bool) -> Denoted:
    """What an expression that ends with a name denotes.

    Args:
        engine: the engine of the repository.
        index: its file.
        number: the scope in which it stands.
        of: a name or a member.
        as_type: whether it is a type, which no local variable is.
    """
    if type(of) is Name:
        return of_name(engine, index, number, of.id, as_type=as_type)
    if type(of) is OneOf:
        each = (denoted(engine, index, number, one, as_type) for one in of.choices if one)
        return next((one for one in each if one), Denoted())
    if type(of) is not Attr:
        return Denoted()
    if type(of.of) is Super:
        return _inherited(engine, index, number, of.name)
    values = evaluate.evaluate(engine, index, number, of.of)
    found = of_member(engine, values, of.name)
    if values and not found.found:
        found.outer = all(isinstance(each, External) for each in values)
    return found


def of_name(
    engine: Engine, index: FileIndex, number: int, name: str, *, as_type: bool = False
) -> Denoted:
    """What a bare name denotes in a scope."""
    rules = index.rules
    if name in rules.receivers or name in rules.own_types:
        return Denoted(known=True)
    current = number
    while current >= 0:
        scope = index.scopes[current]
        origins = index.names[current].get(name)
        if scope.kind == "class":
            found = _within(engine, index, current, name, itself=current == number)
            if found and not (as_type and _are_methods(engine, found)):
                return found
        elif origins and not (current and _is_elsewhere(index, current, name, origins, as_type)):
            return _of_origins(engine, index, current, name, origins)
        brought = _brought_in(engine, index, current, name)
        if brought:
            return brought
        current = scope.parent
    target = rules.named(index.path, index.scopes[number], name)
    return Denoted(known=target is not None or rules.known(name))


def _within(engine: Engine, index: FileIndex, number: int, name: str, *, itself: bool) -> Denoted:
    """A bare name in an enclosing class, or in the class's own body (``itself``)."""
    rules, origins = index.rules, index.names[number].get(name)
    own_body = itself and rules.body_sees_members
    if origins and (own_body or names.seen_within(index.scopes[number], origins)):
        return _of_origins(engine, index, number, name, origins)
    if not rules.class_scopes:
        return Denoted()
    found = _in_class(engine, Class(index.path, number), SELF, name)
    return found if found.found else Denoted()


def _are_methods(engine: Engine, found: Denoted) -> bool:
    """Whether what a name denotes in a class is no type: a method that is called like a type."""
    kinds = [engine.there(path).facts.definitions[number].kind for path, number in found.found]
    return bool(kinds) and all(kind is EntityKind.METHOD for kind in kinds)


def _is_elsewhere(
    index: FileIndex, number: int, name: str, origins: Iterable[Origin], as_type: bool
) -> bool:
    """Whether a name that a function binds is looked up further out: a type, or one that it only
    assigns to."""
    if not all(each.how in _LOCAL for each in origins):
        return False
    if as_type:
        return True
    if index.rules.assignment_declares or any(each.how == "param" for each in origins):
        return False
    return f"local:{name}" not in index.scopes[number].modifiers


def _brought_in(engine: Engine, index: FileIndex, current: int, name: str) -> Denoted:
    found = Denoted()
    for path in () if current else index.rules.besides(index.path, index.facts, name):
        other = engine.index(path) if path != index.path else None
        if other is not None and name in other.names[0]:
            found.add(_of_origins(engine, other, 0, name, other.names[0][name]))
    return found or _starred(engine, index, current, name, 0)


def _starred(engine: Engine, index: FileIndex, current: int, name: str, hops: int) -> Denoted:
    if name == "default" or (name.startswith("_") and index.rules.stars_hide):
        return Denoted()
    for each in index.stars.get(current, ()):
        target = engine.target(index, each)
        found = Denoted() if target.external else _in_target(engine, target, name, hops + 1)
        if found:
            return found
    return Denoted()


def _of_origins(
    engine: Engine,
    index: FileIndex,
    number: int,
    name: str,
    origins: Iterable[Origin],
    hops: int = 0,
) -> Denoted:
    """The definitions that a name has in the scope that binds it."""
    found = Denoted()
    owner = index.scopes[number].definition
    for each in origins:
        if each.how == "import":
            found.add(_of_import(engine, index, each.of, hops))  # type: ignore[arg-type]
        elif each.how == "scope":
            definition = index.scopes[each.number].definition
            if definition >= 0:
                found.found[index.path, definition] = SCOPE
            found.known = True
    if index.scopes[number].kind != "function":
        for definition in _variables(index, number, owner, name):
            found.found.setdefault((index.path, definition), SCOPE)
    found.known = True
    return found


def _of_import(engine: Engine, index: FileIndex, each: Import, hops: int) -> Denoted:
    if hops > _MAX_HOPS:
        return Denoted()
    if not each.module and not each.level:
        origins = index.names[0].get(each.symbol, ())
        others = [one for one in origins if one.of is not each]
        return _of_origins(engine, index, 0, each.symbol, others, hops + 1)
    target = engine.target(index, each)
    if target.external:
        return Denoted(known=True)
    found = Denoted()
    if not each.symbol or each.symbol == "*":
        found.add(_of_whole(engine, target), IMPORT)
        found.known = True
        return found
    found.add(_in_target(engine, target, each.symbol, hops + 1), IMPORT)
    if not found:
        inner = index.rules.submodule(index.path, target, each.symbol)
        found.known = inner is not None
    return found


def _of_whole(engine: Engine, target: Target) -> Denoted:
    """What a module that exports a value as a whole (``module.exports = x``) calls it."""
    found = Denoted()
    for path in target.paths:
        index = engine.index(path)
        if index is None:
            continue
        for each in index.names[0].get(index.rules.whole, ()):
            value = each.of.value if isinstance(each.of, Bind) else None
            if type(value) is Name:
                found.add(of_name(engine, index, 0, value.id))
            elif type(value) is Inner:
                definition = index.scopes[value.scope].definition
                found.found.update({(path, definition): IMPORT} if definition >= 0 else {})
            found.known = True
    return found


def _in_target(engine: Engine, target: Target, name: str, hops: int) -> Denoted:
    """What a module calls by this name."""
    if hops > _MAX_HOPS:
        return Denoted()
    found = Denoted()
    if target.within:
        outer = Target(target.paths, target.directories, within=target.within[:-1])
        return of_member(engine, modules.module_member(engine, outer, target.within[-1]), name)
    for path in target.paths:
        index = engine.index(path)
        if index is None:
            continue
        own = _of_file(engine, index, name, hops)
        found.add(own)
        if own.found:
            break
    if not found and name == "default":
        found.add(_of_whole(engine, target))
    if not found:
        found.add(_of_values(engine, modules.module_member(engine, target, name)))
    return found


def _of_file(engine: Engine, index: FileIndex, name: str, hops: int) -> Denoted:
    for each in index.scopes[0].imports:
        if each.exported == name and name != "*":
            return _of_import(engine, index, each, hops)
    origins = index.names[0].get(name)
    if origins and (index.rules.imports_exported or any(o.how != "import" for o in origins)):
        return _of_origins(engine, index, 0, name, origins, hops)
    return _starred(engine, index, 0, name, hops)


def _of_values(engine: Engine, values: Values) -> Denoted:
    """The definitions of these values, where a name's own is not known."""
    found = Denoted(known=bool(values))
    for value, rank in values.items():
        if isinstance(value, Bound):
            value = value.func
        if isinstance(value, Class | Func):
            definition = engine.there(value.path).scopes[value.scope].definition
            if definition >= 0:
                found.found[value.path, definition] = rank
    return found


def of_member(engine: Engine, values: Values, name: str) -> Denoted:
    """What a member of any of these values denotes."""
    found = Denoted()
    for value, rank in values.items():
        found.add(_member(engine, value, rank, name), rank)
    return found


def _member(engine: Engine, value: Value, rank: Rank, name: str) -> Denoted:
    if isinstance(value, Instance | Class):
        return _in_class(engine, value, rank, name)
    if isinstance(value, Module):
        return _in_target(engine, value.target, name, 0)
    if isinstance(value, Var):
        return of_member(engine, outside(value.bound, rank), name)
    if isinstance(value, Given):
        values = given(engine, value)
        return of_member(engine, {v: r for v, r in values.items() if type(v) is not Given}, name)
    if isinstance(value, Record):
        parts = [each for key, part in value.items if key == name for each in part]
        return _of_values(engine, outside(tuple(parts), rank))
    if isinstance(value, External):
        # A member of an object about which nothing is known may be anything's.
        return Denoted(known=not value.name.startswith("."))
    return Denoted(known=isinstance(value, Thing) and bool(value.name))


def _in_class(engine: Engine, value: Class | Instance, rank: Rank, name: str) -> Denoted:
    """What a member denotes: the first class above that has it wins."""
    found = Denoted()
    for each in mro.order(engine, value.path, value.scope):
        if isinstance(each, External):
            known = each.name.rpartition(".")[2] not in classes.NO_MEMBERS
            found.known = found.known or known
        elif _own_member(engine, each, rank, name, found):
            break
    return found


def _own_member(engine: Engine, owner: Class, rank: Rank, name: str, into: Denoted) -> bool:
    """Add what a class itself has by this name; returns whether it has anything."""
    home = engine.there(owner.path)
    own = home.scopes[owner.scope].definition
    places: list[Place] = []
    origins = classes.own_origins(engine, owner.path, owner.scope, name)
    for index, origin in origins:
        around = index.scopes[origin.scope].definition
        if origin.how == "scope":
            places.append((index.path, index.scopes[origin.number].definition))
        elif index is not home or around != own:
            places += [(index.path, one) for one in _variables(index, origin.scope, around, name)]
    if own >= 0:
        places += [(owner.path, one) for one in _variables(home, owner.scope, own, name)]
    into.found.update({place: rank for place in places if place[1] >= 0})
    into.known = into.known or bool(origins)
    return bool(origins or places)


def _variables(index: FileIndex, number: int, owner: int, name: str) -> list[int]:
    """The variables of a name in a scope's own definition. Where a language keeps fields apart from
    methods (``.x``), a plain name means none of them."""
    if f".{name}" in index.names[number]:
        return []
    kinds = index.facts.definitions
    found = index.defined(owner, name.removeprefix("."))
    return [each for each in found if kinds[each].kind is EntityKind.VARIABLE]


def _inherited(engine: Engine, index: FileIndex, number: int, name: str) -> Denoted:
    found = Denoted()
    for value, rank in members.bases_around(engine, index, number).items():
        if isinstance(value, Class | External):
            found.add(_member(engine, value, rank, name), rank)
    return found
