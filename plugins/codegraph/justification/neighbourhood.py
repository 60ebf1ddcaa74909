"""What indexes changed and what is around it, in columns: the part that is judged at once.

Judged are the changed files, and the callers of what changed up to two steps away (kap10, phase 5,
"Cascade re-justification"). What these use, and what uses them, is only looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import among
from plugins.codegraph.changes.log import UpdateKind
from plugins.codegraph.changes.told import Told, unpacked
from plugins.codegraph.justification.columns import JUSTIFIED, LINKED, MAX_DOC, Columns
from plugins.codegraph.model import Entity
from plugins.codegraph.store.change_tables import changes, updates
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.rows import entity_of
from plugins.codegraph.store.tables import SELECTED, edges, entities, incoming

MAX_JUDGED = 3_000
"""The most entities that are judged at once; of more, the rules over the whole graph tell."""
MAX_EDGES = 20_000
"""The most edges that are looked at."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What indexes changed.

    Attributes:
        paths: the files.
        keys: the entities that are new or other, and those that are no more.
        callers: what called the latter, up to two steps away.
    """

    paths: frozenset[str]
    keys: frozenset[int]
    callers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What changed and what is around it.

    Attributes:
        columns: the part of the graph, not settled yet.
        judged: the keys of what is to be judged.
        keys: of all that something may have been said of and is to be said anew, or not at all.
    """

    columns: Columns
    judged: frozenset[int]
    keys: frozenset[int]


async def changed_since(
    database: Database, view: RepositoryView, generation: int
) -> Changed | None:
    """What changed in a layer after one of its generations.

    Returns:
        None where too much changed for all of it to be written down.
    """
    mine = updates.c.org == view.org, updates.c.repo == view.id
    query = (
        select(updates.c.id, updates.c.kind, updates.c.counts)
        .where(*mine, updates.c.layer == view.layer)
        .where(updates.c.generation > generation, updates.c.generation <= view.generation)
    )
    async with database.read() as connection:
        rows = (await connection.execute(query)).all()
        if any(row[1] != UpdateKind.ENTITIES for row in rows):
            return None
        those = changes.c.update.in_([row[0] for row in rows])
        mine = changes.c.org == view.org, changes.c.repo == view.id
        packed = select(changes.c.data).where(*mine, those).limit(MAX_JUDGED + 1)
        told = [unpacked(data) for data in await connection.scalars(packed)]
    counted = sum(count for row in rows for kind, count in row[2].items() if kind != "files")
    return _changed(told) if len(told) == counted <= MAX_JUDGED else None


def _changed(told: Sequence[Told]) -> Changed:
    sides = [side for each in told for side in (each.before, each.after) if side is not None]
    callers = {key for each in told for key in (*each.callers, *each.beyond)}
    return Changed(
        frozenset(each.path for each in sides),
        frozenset(each.key for each in sides),
        frozenset(callers),
    )


async def around(
    database: Database, view: RepositoryView, changed: Changed
) -> Neighbourhood | None:
    """The neighbourhood of a change; None where it is too large."""
    async with database.read() as connection:
        calling = await _sources(connection, view, changed.keys)
        wanted = changed.callers | changed.keys | calling
        mine = await _entities(connection, view, changed.paths, wanted, MAX_JUDGED + 1)
        if len(mine) > MAX_JUDGED:
            return None
        judged = frozenset(each.key for each in mine)
        pairs = await _pairs(connection, view, judged)
        if len(pairs) > MAX_EDGES:
            return None
        ends = {end for source, _, target in pairs for end in (source, target)}
        ends |= {each.parent for each in mine if each.parent is not None}
        others = await _entities(connection, view, (), ends - judged, MAX_EDGES)
    columns = Columns()
    for each in (*mine, *others):
        if each.kind in JUSTIFIED:
            columns.add(each)
    columns.link([(source, target) for source, _, target in sorted(pairs)])
    return Neighbourhood(columns, judged, judged | wanted)


async def _entities(
    connection: AsyncConnection,
    view: RepositoryView,
    paths: Collection[str],
    keys: Collection[int],
    limit: int,
) -> list[Entity]:
    """The entities of some files, and some others."""
    here = select(entities.c.id).where(
        entities.c.layer == view.layer, entities.c.repo == view.id, entities.c.org == view.org
    )
    # By both at once SQLite would read the whole layer.
    of_paths = here.where(among(entities.c.path, paths))
    of_keys = here.where(among(entities.c.key, keys))
    those = entities.c.id.in_(of_paths.union(of_keys))
    rows = await connection.execute(
        select(*SELECTED).where(those).order_by(entities.c.id).limit(limit)
    )
    return [entity_of((*row[:9], row[9][:MAX_DOC], *row[10:])) for row in rows]


async def _sources(
    connection: AsyncConnection, view: RepositoryView, keys: Collection[int]
) -> frozenset[int]:
    """What uses some entities now."""
    leads = incoming.c.layer == view.layer, incoming.c.kind.in_(LINKED)
    query = select(incoming.c.source).where(*leads, among(incoming.c.target, keys))
    return frozenset(await connection.scalars(query.limit(MAX_JUDGED)))


async def _pairs(
    connection: AsyncConnection, view: RepositoryView, keys: Collection[int]
) -> set[tuple[int, int, int]]:
    """The edges that begin or end at some entities: source, kind and target."""
    found: set[tuple[int, int, int]] = set()
    for table, end in ((edges, edges.c.source), (incoming, incoming.c.target)):
        query = select(table.c.source, table.c.kind, table.c.target).where(
            table.c.layer == view.layer,
            table.c.kind.in_(LINKED),
            among(end, keys),
        )
        rows = await connection.execute(query.limit(MAX_EDGES + 1))
        found.update((row[0], row[1], row[2]) for row in rows)
    return found
