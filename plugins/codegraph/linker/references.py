"""The references of a file: what it names without calling it, and what for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from plugins.codegraph.facts import (
    AS_TYPE,
    BASE,
    CALLED,
    DECORATOR,
    IN_MACRO,
    KEYWORD,
    MADE,
    RAISED,
    TARGET,
    Attr,
    Expr,
    Name,
    OneOf,
    Use,
)
from plugins.codegraph.linker import evaluate
from plugins.codegraph.linker.classes import find
from plugins.codegraph.linker.denoted import Denoted, denoted, of_member
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.entities import file_key
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.mentions import Place
from plugins.codegraph.linker.relations import STRATEGIES
from plugins.codegraph.linker.results import callee
from plugins.codegraph.linker.values import Class, External, Method, Rank, Thing
from plugins.codegraph.model import Edge, EdgeKind, EntityKind, Sort

_SORTS: Mapping[str, Sort] = MappingProxyType(
    {
        AS_TYPE: Sort.TYPE,
        TARGET: Sort.WRITTEN,
        KEYWORD: Sort.WRITTEN,
        RAISED: Sort.RAISED,
        DECORATOR: Sort.DECORATED,
        IN_MACRO: Sort.MACRO,
        MADE: Sort.CONSTRUCTED,
    }
)
_OF_CALLS = frozenset({CALLED, DECORATOR, MADE, RAISED})
"""The ways to use a name that may be a call of it too."""
_CLASSES = frozenset({EntityKind.CLASS, EntityKind.INTERFACE})

_TYPE = EntityKind.INTERFACE


class References:
    """Finds the references of one file.

    Args:
        engine: the engine of the repository.
        index: the file.
        placed: name and line of each call that an edge or an unresolved call accounts for.
    """

    def __init__(self, engine: Engine, index: FileIndex, placed: Iterable[Place]) -> None:
        self._engine, self._index = engine, index
        self._calls = Counter(placed)
        self._edges: dict[tuple[int, int, Sort], list[int]] = {}
        self._kept: dict[tuple[int, str, bool], Denoted] = {}
        self._twins: dict[str, bool] = {}
        self.explained: list[Place] = []
        """Name and line of each occurrence that is accounted for."""
        self.asked: list[Place] = []
        """Those of them that are members of something that seems not to be of the repository."""

    def collect(self) -> None:
        """Resolve every use of the file."""
        index, repo = self._index, self._engine.view.repo
        keys, whole = index.keys(repo), file_key(repo, index.path)
        for number, scope in enumerate(index.scopes):
            owner = index.owner(number)
            source = keys[owner] if owner >= 0 else whole
            for use in scope.uses:
                place = (written_name(use.of), use.line)
                around = scope.parent if use.head else number
                if self._resolved(use, around, source, place):
                    self.explained.append(place)

    def left_calls(self) -> list[Place]:
        """The accounted calls that no use stands for."""
        return list(self._calls.elements())

    def edges(self) -> list[Edge]:
        """The references, one per source, target and sort, with first line and number of sites."""
        path = self._index.path
        return [
            Edge(EdgeKind.REFERENCES, source, target, path, line, STRATEGIES[rank], sites, sort)
            for (source, target, sort), (line, rank, sites) in self._edges.items()
        ]

    def _resolved(self, use: Use, number: int, source: int, place: Place) -> bool:
        """Record what a use refers to; returns whether the occurrence is accounted for."""
        found = self._denoted(use, number)
        if type(use.of) is Attr and not found.found and not self._is_outside(use.of, number, found):
            self.asked.append(place)
        doubtful = any(self._has_twin(path) for path, _ in found.found)
        for (path, definition), rank in self._meant(use, found):
            home = self._engine.there(path)
            sort = self._sort(use.how, home.facts.definitions[definition].kind)
            if sort is not None and not home.is_property(definition):
                self._edge(source, home.keys(self._engine.view.repo)[definition], sort, rank, use)
        if use.how in _OF_CALLS and self._calls[place] > 0:
            self._calls[place] -= 1
            return not doubtful
        if doubtful:
            return False
        if use.how != CALLED:
            return bool(found)
        return any(
            self._engine.there(path).facts.definitions[number].kind in _CLASSES
            for path, number in found.found
        )

    def _is_outside(self, of: Attr, number: int, found: Denoted) -> bool:
        """Whether a member certainly is not of the repository: of a module that is imported from
        outside, or of an object of the language, by its full name."""
        root: Expr | None = of
        while type(root) is Attr:
            root = root.of
        if not found.outer or type(root) is not Name or root.id in self._index.rules.receivers:
            return False
        names, at = self._index.names, self._index.binder(number, root.id)
        origins = names[number].get(root.id) or (names[at].get(root.id) if at >= 0 else None)
        return all(each.how == "import" for each in origins or ())

    def _meant(self, use: Use, found: Denoted) -> list[tuple[tuple[str, int], Rank]]:
        """What a name means of a type and a value that have it, by where it stands."""
        places = list(found.found.items())
        if len(places) < 2 or not self._index.rules.types_apart:
            return places
        kinds = [self._engine.there(path).facts.definitions[at].kind for (path, at), _ in places]
        wanted = _CLASSES if use.how in (AS_TYPE, BASE) else frozenset(EntityKind) - {_TYPE}
        meant = [place for place, kind in zip(places, kinds, strict=True) if kind in wanted]
        return meant or places

    def _has_twin(self, path: str) -> bool:
        """Whether a file is part of a package whose name another one has, which may be meant."""
        if path not in self._twins:
            rules = self._index.rules
            self._twins[path] = path != self._index.path and rules.has_twin(self._index.path, path)
        return self._twins[path]

    def _sort(self, how: str, kind: EntityKind) -> Sort | None:
        """The sort of a reference; None where another kind of edge says it."""
        if how == BASE:
            return Sort.READ if kind is EntityKind.VARIABLE else None
        if how == CALLED:
            if kind in _CLASSES:
                return Sort.TYPE if self._index.rules.converts else Sort.CONSTRUCTED
            return Sort.READ if kind is EntityKind.VARIABLE else None
        plain = Sort.READ if kind is EntityKind.VARIABLE else Sort.VALUE
        return _SORTS.get(how, plain)

    def _edge(self, source: int, target: int, sort: Sort, rank: Rank, use: Use) -> None:
        if source == target:
            return
        old = self._edges.setdefault((source, target, sort), [use.line, rank, 0])
        old[0], old[1] = min(old[0], use.line), min(old[1], rank)
        old[2] += 1

    def _denoted(self, use: Use, number: int) -> Denoted:
        engine, index, as_type = self._engine, self._index, use.how in (AS_TYPE, BASE, MADE)
        if use.how == KEYWORD and type(use.of) is Attr:
            return self._parameter(use.of, number)
        if type(use.of) is not Name:
            return denoted(engine, index, number, use.of, as_type)
        key = (number, use.of.id, as_type)
        if key not in self._kept:
            self._kept[key] = denoted(engine, index, number, use.of, as_type)
        return self._kept[key]

    def _parameter(self, of: Attr, number: int) -> Denoted:
        """What the name of an argument denotes: a parameter, or a field of the class called."""
        engine, found = self._engine, Denoted()
        for value, rank in evaluate.evaluate(engine, self._index, number, of.of).items():
            func = callee(engine, value)[0]
            if func is not None:
                params = engine.there(func.path).scopes[func.scope].params
                found.known = found.known or any(each.name == of.name for each in params)
            elif isinstance(value, Class):
                found.add(of_member(engine, {value: rank}, of.name))
                found.known = found.known or self._initial(value, of.name)
            elif isinstance(value, External | Method | Thing):
                found.known = True
        return found

    def _initial(self, value: Class, name: str) -> bool:
        """Whether a constructor of a class has a parameter of this name."""
        engine = self._engine
        rules = engine.there(value.path).rules
        made = [
            place
            for each in rules.constructors
            for place in find(engine, value.path, value.scope, each)[0]
        ]
        scopes = [engine.there(path).scopes[number] for path, number in made]
        return any(param.name == name for scope in scopes for param in scope.params)


def written_name(of: Expr) -> str:
    """The last name of a use as the text has it."""
    while type(of) is OneOf and of.choices and of.choices[-1] is not None:
        of = of.choices[-1]
    name = of.id if type(of) is Name else of.name if type(of) is Attr else ""
    name = name.removeprefix(".")
    return name[:1] + name[1:].partition("#")[0].partition("@")[0]
