"""A repository's graph in memory, in columns, for rules that look at all of it.

Loaded in pages: a few hundred bytes for an entity, 16 for an edge; texts are not kept.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select, tuple_

from gateway.contract import Database
from plugins.codegraph.justification.signals import NOTHING, EntitySignals, FileSignals, place_of
from plugins.codegraph.model import EdgeKind, Endpoint, Entity, EntityKind, Sort
from plugins.codegraph.store.codes import edge_codes
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.rows import entity_of
from plugins.codegraph.store.tables import SELECTED, edges, entities

JUSTIFIED = (EntityKind.FUNCTION, EntityKind.METHOD, EntityKind.CLASS, EntityKind.INTERFACE)
"""The kinds that are classified; a file is the sum of what is in it, a variable part of that."""
PAGE, EDGES = 5_000, 20_000
"""Entities and edges that are read at a time."""
MAX_DOC = 400
"""The characters of documentation that are kept of an entity."""
LINKED = (
    *edge_codes((EdgeKind.CALLS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)),
    *edge_codes(EdgeKind.REFERENCES, (Sort.CONSTRUCTED, Sort.VALUE, Sort.TYPE, Sort.DECORATED)),
)
"""The numbers of the edges that the rules look at."""


@dataclass(slots=True)
class Columns:
    """What the rules look at; every list has one value for each entity, in the same order.

    Attributes:
        entities: the functions, methods, classes and interfaces, tests included.
        index: the position of each key.
        callees, callers: positions of what an entity uses, and of what uses it.
        parents: the position of the class or function around, or -1.
        signals: what the text tells.
        files: what the text of each file tells, by path.
        routes: the routes that an entity or a file serves, by key.
        paths: the keys of the files' own entities, by path.
    """

    entities: list[Entity] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)
    callees: list[array[int]] = field(default_factory=list)
    callers: list[array[int]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    signals: list[EntitySignals] = field(default_factory=list)
    files: dict[str, FileSignals] = field(default_factory=dict)
    routes: dict[int, list[Endpoint]] = field(default_factory=dict)
    paths: dict[str, int] = field(default_factory=dict)

    def link(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Take in edges between known entities, as keys."""
        for source, target in pairs:
            here, there = self.index.get(source, -1), self.index.get(target, -1)
            if here >= 0 and there >= 0 and here != there:
                self.callees[here].append(there)
                self.callers[there].append(here)

    def add(self, entity: Entity) -> None:
        """Take in an entity, without its edges."""
        if entity.kind is EntityKind.FILE:
            self.paths[entity.path] = entity.key
            return
        self.index[entity.key] = len(self.entities)
        self.entities.append(entity)
        self.callees.append(array("q"))
        self.callers.append(array("q"))

    def settle(self, files: Mapping[str, FileSignals], ends: Sequence[Endpoint]) -> None:
        """Put in what depends on all entities: the classes around, signals and routes."""
        self.files = dict(files)
        self.parents = [
            -1 if each.parent is None else self.index.get(each.parent, -1) for each in self.entities
        ]
        self.signals = [self._signals(each) for each in self.entities]
        routes: defaultdict[int, list[Endpoint]] = defaultdict(list)
        for end in ends:
            if end.serves:
                routes[end.entity].append(end)
        self.routes = dict(routes)

    def _signals(self, entity: Entity) -> EntitySignals:
        file = self.files.get(entity.path)
        return NOTHING if file is None else file.entities.get(place_of(entity), NOTHING)


async def load(
    database: Database,
    view: RepositoryView,
    files: Mapping[str, FileSignals],
    ends: Sequence[Endpoint],
) -> Columns:
    """The columns of a repository's base layer.

    Args:
        database: the plugin's database.
        view: the repository.
        files: what the text of each file tells, by path.
        ends: the routes and requests.
    """
    columns = Columns()
    async for rows in _pages(database, _entities(view), entities.c.id, len(SELECTED)):
        for row in rows:
            entity = entity_of((*row[:9], row[9][:MAX_DOC], *row[10:]))
            if entity.kind in JUSTIFIED or entity.kind is EntityKind.FILE:
                columns.add(entity)
    last: tuple[int, int, int] | None = None
    while True:
        async with database.read() as connection:
            part = (await connection.execute(_edges(view, last))).all()
        columns.link([(row[0], row[2]) for row in part])
        if len(part) < EDGES:
            break
        last = part[-1][0], part[-1][1], part[-1][2]
    columns.settle(files, ends)
    return columns


def _entities(view: RepositoryView) -> Any:
    mine = entities.c.layer == view.layer, entities.c.repo == view.id, entities.c.org == view.org
    return select(*SELECTED, entities.c.id).where(*mine).order_by(entities.c.id)


def _edges(view: RepositoryView, after: tuple[int, int, int] | None) -> Any:
    """A page of the edges in the order of their table, after one of them."""
    mine = edges.c.layer == view.layer, edges.c.repo == view.id, edges.c.org == view.org
    place = edges.c.source, edges.c.kind, edges.c.target
    page = select(*place).where(*mine, edges.c.kind.in_(LINKED))
    if after is not None:
        page = page.where(tuple_(*place) > tuple_(*after))
    return page.order_by(*place).limit(EDGES)


async def _pages(database: Database, query: Any, key: Any, at: int) -> Any:
    after = 0
    while True:
        async with database.read() as connection:
            rows = (await connection.execute(query.where(key > after).limit(PAGE))).all()
        if not rows:
            return
        yield rows
        after = rows[-1][at]
