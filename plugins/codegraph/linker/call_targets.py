"""Turns the targets of a file's calls into edges, and the unknown ones into unresolved calls."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.facts import Call, Expr, last_name
from plugins.codegraph.linker import classes, overloads
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.parameters import given
from plugins.codegraph.linker.relations import STRATEGIES, entity_keys
from plugins.codegraph.linker.values import (
    Bound,
    Class,
    External,
    Func,
    Given,
    Instance,
    Method,
    Rank,
    Thing,
    Tuple,
    Value,
    Values,
)
from plugins.codegraph.model import Edge, EdgeKind, Unresolved


class CallTargets:
    """The edges of one file's calls.

    Args:
        engine: the engine of the repository.
        index: the file.
    """

    def __init__(self, engine: Engine, index: FileIndex) -> None:
        self._engine = engine
        self._index = index
        self._repo = engine.view.repo
        self._edges: dict[tuple[int, int], list[int]] = {}
        self._open: dict[str, list[int]] = {}
        self._source = 0
        self._line = 1
        self._scope = 0
        self._now: Call | None = None
        self._placed: dict[tuple[str, int, Expr], None] = {}
        self._called: set[str] = set()
        self._aliases = _aliases(index)

    def placed(self) -> list[tuple[str, int]]:
        """Name and line of each call that needs no mention: its target is known, or it is reported
        as unresolved."""
        return [(name, line) for name, line, _ in self._placed]

    def edges(self) -> list[Edge]:
        """The call edges, one per caller and callee, with the first line and the number of
        sites."""
        path = self._index.path
        return [
            Edge(EdgeKind.CALLS, source, target, path, line, STRATEGIES[rank], sites)
            for (source, target), (line, rank, sites) in self._edges.items()
        ]

    def unresolved(self) -> list[Unresolved]:
        """The calls whose target is unknown, one per name, with the first line and the number of
        sites."""
        path = self._index.path
        return [Unresolved(path, name, line, sites) for name, (line, sites) in self._open.items()]

    def _targets(self, values: Values, name: str, written: Expr | None = None) -> None:
        """Record the targets of one call, or the call as unresolved if it has a name and no target
        is known."""
        placed = False
        self._called = set()
        for value, rank in values.items():
            placed = self._target(value, rank) or placed
        if not placed and name:
            own = name[:1] + name[1:].partition("#")[0].partition("@")[0]
            known_so_far = self._open.setdefault(own, [self._line, 0])
            known_so_far[0] = min(known_so_far[0], self._line)
            known_so_far[1] += 1
        if written is not None:
            self._account(name or last_name(written), written)

    def _account(self, name: str, written: Expr) -> None:
        """Record that an edge explains this occurrence of a name, if the target (or its class, for
        a constructor) has that name. An inherited constructor explains nothing: it belongs to
        another class."""
        own = name[:1] + name[1:].partition("#")[0].partition("@")[0]
        if not self._called or self._called & {own, *self._aliases.get(own, ())}:
            self._placed[own, self._line, written] = None

    def _target(self, value: Value, rank: Rank) -> bool:
        """Record one target; returns whether it is known, inside or outside of the repository."""
        if isinstance(value, Func):
            self._edge(value, rank)
        elif isinstance(value, Bound):
            self._edge(value.func, rank)
        elif isinstance(value, Class):
            self._construct(value, rank)
        elif isinstance(value, Instance):
            return self._call_object(value, rank)
        elif isinstance(value, Given):
            found = [
                self._target(each, own)
                for each, own in given(self._engine, value).items()
                if not isinstance(each, Given)
            ]
            return any(found)
        elif isinstance(value, External):
            # A member of an object about which nothing is known may be anything's.
            return not value.name.startswith(".")
        else:
            return isinstance(value, Thing | Method | Tuple)
        return True

    def _edge(self, value: Class | Func, rank: Rank) -> None:
        scopes = self._engine.there(value.path).scopes
        self._called.add(scopes[value.scope].name)
        self._called.add(scopes[scopes[value.scope].parent].name)
        for target in entity_keys(self._engine, value):
            old = self._edges.get((self._source, target))
            if old is None:
                self._edges[self._source, target] = [self._line, rank, 1]
            else:
                old[0] = min(old[0], self._line)
                old[1] = min(old[1], rank)
                old[2] += 1

    def _construct(self, value: Class, rank: Rank) -> None:
        """Calling a class calls its constructors; without any, the edge goes to the class
        itself."""
        engine = self._engine
        found = False
        home = engine.there(value.path)
        if home.rules.converts or "interface" in home.scopes[value.scope].modifiers:
            return
        for name in home.rules.constructors:
            defined, _, _ = classes.find(engine, value.path, value.scope, name)
            if home.rules.overloads and self._now is not None:
                around = (engine, self._index, self._scope)
                defined = tuple(overloads.best(*around, defined, self._now))
            for path, number in defined:
                self._edge(Func(path, number), rank)
                found = True
        for number in self._marked(home, value.scope):
            self._edge(Func(value.path, number), rank)
            found = True
        if not found:
            self._edge(value, rank)

    @staticmethod
    def _marked(home: FileIndex, scope: int) -> Sequence[int]:
        return [
            each.number
            for origins in home.names[scope].values()
            for each in origins
            if each.how == "scope"
            and "constructor" in home.scopes[each.number].modifiers
            and home.scopes[each.number].name not in home.rules.constructors
        ]

    def _call_object(self, value: Instance, rank: Rank) -> bool:
        called = self._index.rules.called
        if not called:
            return False
        return self._method(value, rank, called)

    def _method(self, value: Instance, rank: Rank, name: str) -> bool:
        defined, _, owner = classes.find(self._engine, value.path, value.scope, name)
        for path, number in defined:
            self._edge(Func(path, number), rank)
        return bool(defined) or isinstance(owner, External)


def _aliases(index: FileIndex) -> dict[str, set[str]]:
    """By local alias, the names under which the imported things are defined elsewhere."""
    found: dict[str, set[str]] = {}
    for scope in index.scopes:
        for each in scope.imports:
            if each.alias and each.symbol not in ("", "*"):
                found.setdefault(each.alias, set()).add(each.symbol)
    return found
