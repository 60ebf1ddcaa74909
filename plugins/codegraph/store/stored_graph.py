"""The graph of one view, read from the database."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import among, among_parameter
from plugins.codegraph.model import (
    EdgeKind,
    Endpoint,
    Entity,
    EntityKind,
    FileReport,
    Mention,
    Sort,
)
from plugins.codegraph.store import contents, name_match, stats
from plugins.codegraph.store.codes import (
    EDGE_KINDS,
    SORTS,
    STRATEGIES,
    edge_codes,
    end_id,
    entity_codes,
    first_id,
    sure_codes,
)
from plugins.codegraph.store.degrees import degrees, degrees_of_most
from plugins.codegraph.store.fulltext import full_text
from plugins.codegraph.store.graph import (
    MAX_DEPTH,
    MAX_REACHED,
    Reached,
    RepositoryView,
    Sites,
    Sizes,
    Stats,
    Walk,
)
from plugins.codegraph.store.known_names import KnownNames
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import endpoint_of, entity_of, report_of
from plugins.codegraph.store.tables import (
    ENDS,
    REPORTED,
    SELECTED,
    endpoints,
    entities,
    files,
    mentions,
    unresolved,
)
from plugins.codegraph.store.traversal import SURE, Along, Step, arrows, traverse
from plugins.codegraph.store.visibility import Visibility, in_base


class Graph:
    """One repository as one caller sees it, with the caller's overlay.

    Every query is bound to the organisation and the repository of the view, which comes from the
    registry and never from a caller's arguments.

    Args:
        database: the plugin's database.
        repo: the repository, as its caller sees it.
        names: caches the names of layers, to find similar ones for an unknown name.
    """

    def __init__(self, database: Database, repo: RepositoryView, names: KnownNames) -> None:
        self._database, self.repo, self._names = database, repo, names
        self._visibility = Visibility(repo)

    async def find(
        self, name: str, file: str | None = None, kinds: Collection[EntityKind] = ()
    ) -> list[Entity]:
        """The entities with a name, by file and line.

        Args:
            name: an own name, a qualified one or the end of one (``Graph.find``; ``.``, ``::``,
                ``#`` and ``/`` separate), a file's path or the end of it, or a key of 16
                hexadecimal digits.
            file: a file's path or the end of one, at a ``/``.
            kinds: only these; all if empty.
        """
        condition: ColumnElement[bool] = entities.c.name.in_(name_match.own_names(name))
        key = name_match.key_of(name)
        if key is not None:
            condition = or_(condition, entities.c.key == key)
        async with self._database.read() as connection:
            found = await self._entities(connection, condition, *_only(kinds))
        meant = [each for each in found if each.key == key or name_match.means(each, name)]
        if file is not None:
            meant = [each for each in meant if name_match.in_file(each, file)]
        return sorted(meant, key=_place)

    async def nearest(
        self, name: str, limit: int = 10, kinds: Collection[EntityKind] = ()
    ) -> list[Entity]:
        """The entities whose names are most similar to an unknown one, most similar first."""
        async with self._database.read() as connection:
            known = await self._names.of(connection, self._visibility, self.repo.version)
            names = await asyncio.to_thread(name_match.most_similar, name, known, limit)
            named = entities.c.name.in_(names)
            found = await self._entities(connection, named, *_only(kinds))
        return name_match.ordered(found, names)[:limit]

    async def entities(self, keys: Collection[int]) -> dict[int, Entity]:
        """Entities by key; unknown keys are left out."""
        async with self._database.read() as connection:
            return await self._by_keys(connection, keys)

    async def walk(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
        incoming: bool,
        depth: int = 1,
        limit: int = MAX_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """Walk along edges, breadth first; reaches no entity twice, nor the start itself.

        Args:
            keys: where to start: one entity, or several, such as a class and its methods.
            kind: the kind or kinds of edges to follow.
            incoming: against their direction: callers rather than callees.
            depth: the number of steps, 1 to 5.
            limit: the most entities returned; more are still counted.
            min_confidence: follow only edges with at least this confidence.
        """
        along = Along(edge_codes(kind), incoming, sure_codes(min_confidence))
        depth = max(1, min(depth, MAX_DEPTH))
        async with self._database.read() as connection:
            steps = await traverse(connection, self._visibility, keys, along, depth)
            chosen = steps.found[:limit]
            wanted = {key for step in chosen for key in (step.key, step.via)}
            found = await self._by_keys(connection, wanted)
        reached = [_to_reached(step, found, incoming) for step in chosen if step.key in found]
        reached.sort(key=lambda each: (each.depth, -each.confidence, *_place(each.entity)))
        # Entities that an overlay deletes were counted, but do not exist.
        total = len(steps.found) - (len(chosen) - len(reached))
        return Walk(reached, total, steps.capped)

    async def uses(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
        sorts: Collection[Sort] = (),
        limit: int = MAX_REACHED,
        min_confidence: float = 0.0,
    ) -> Walk:
        """The edges that lead to some entities, each of its own.

        Args:
            keys: the entities.
            kind: the kind or kinds of edges.
            sorts: of references only these; all if empty.
            limit: the most edges returned; more are still counted.
            min_confidence: only edges with at least this confidence.
        """
        along = Along(edge_codes(kind, sorts), True, sure_codes(min_confidence))
        async with self._database.read() as connection:
            steps = await arrows(connection, self._visibility, keys, along)
            # Which ones are kept must not depend on how the database orders them.
            chosen = sorted(steps.found, key=lambda each: (each.key, each.kind, each.via))[:limit]
            wanted = {key for step in chosen for key in (step.key, step.via)}
            found = await self._by_keys(connection, wanted)
        reached = [_to_reached(step, found, True) for step in chosen if step.key in found]
        reached.sort(key=lambda each: (each.path, each.line, *_place(each.entity)))
        return Walk(reached, len(steps.found) - (len(chosen) - len(reached)), steps.capped)

    async def between(
        self,
        keys: Collection[int],
        kind: EdgeKind | Collection[EdgeKind],
    ) -> list[Reached]:
        """The edges between some entities, each with its target, by place.

        Args:
            keys: the entities.
            kind: the kind or kinds of edges.
        """
        along = Along(edge_codes(kind), False)
        async with self._database.read() as connection:
            steps = await arrows(connection, self._visibility, keys, along)
            found = await self._by_keys(connection, keys)
        ends = (step for step in steps.found if step.key in found and step.via in found)
        reached = [_to_reached(step, found, False) for step in ends]
        return sorted(reached, key=lambda each: (each.path, each.line, *_place(each.entity)))

    async def degrees(self, keys: Collection[int]) -> dict[int, tuple[int, int]]:
        """The numbers of callers and callees of entities, by key."""
        async with self._database.read() as connection:
            return await degrees(connection, self._visibility, keys)

    async def most_used(self, limit: int) -> list[tuple[Entity, int]]:
        """The entities with the most calls and references, most first, each with their number."""
        async with self._database.read() as connection:
            counted = await degrees_of_most(connection, self._visibility, limit)
            found = await self._by_keys(connection, counted)
        ranked = [(found[key], count) for key, count in counted.items() if key in found]
        return sorted(ranked, key=lambda pair: (-pair[1], *_place(pair[0])))

    async def contained(self, key: int) -> list[Entity]:
        """The entities directly contained in one, by line."""
        async with self._database.read() as connection:
            around = await self._by_keys(connection, [key])
            if key not in around:
                return []
            here = entities.c.path == around[key].path, entities.c.parent == key
            found = await self._entities(connection, *here)
        return sorted(found, key=_place)

    async def in_file(self, path: str) -> list[Entity]:
        """All entities of a file, the file first, then by line."""
        async with self._database.read() as connection:
            found = await self._entities(connection, entities.c.path == path)
        return sorted(found, key=lambda each: (each.kind is not EntityKind.FILE, *_place(each)))

    async def file(self, path: str) -> FileReport | None:
        """A file's report, or None if there is no such file."""
        async with self._database.read() as connection:
            return next(iter(await self._reports(connection, files.c.path == path)), None)

    async def source(self, path: str) -> bytes | None:
        """A file's text as it was indexed, or None if it is not in the graph."""
        async with self._database.read() as connection:
            here = files.c.path == path, files.c.skipped.is_(False)
            for report in await self._reports(connection, *here):
                owner = Owner(self.repo.org, self.repo.id)
                return await contents.text_of(connection, owner, report.digest)
        return None

    async def words(
        self, query: str, limit: int, kinds: Collection[EntityKind] = ()
    ) -> list[tuple[Entity, float]]:
        """Full-text search over names split into words, signatures and docs; best first.

        Scores are greater than 0, and comparable within one result only.
        """
        only = entity_codes(kinds)
        scores: dict[int, float] = {}
        async with self._database.read() as connection:
            for layer in self._visibility.layers:
                # Hidden entities use up places, so ask for more.
                most = limit if self._visibility.overlay is None else 2 * limit + 20
                found = await full_text(connection).search(connection, layer, query, only, most)
                scores.update(found)
            rows = await self._numbered(connection, scores)
        scored = [(entity_of(row), scores[row[-1]]) for row in rows]
        return sorted(scored, key=lambda pair: (-pair[1], *_place(pair[0])))[:limit]

    async def stats(self) -> Stats:
        """Counts of the repository's content."""
        async with self._database.read() as connection:
            return await stats.stats(connection, self._visibility)

    async def sizes(self) -> Sizes:
        """How large the repository's content is, without an overlay."""
        async with self._database.read() as connection:
            return await stats.sizes(connection, self._visibility)

    async def unresolved(self, name: str, limit: int = 50) -> Sites:
        """Calls by this name whose target is unknown; ``limit`` bounds the places."""
        query = select(unresolved.c.path, unresolved.c.line, unresolved.c.sites).where(
            *self._visibility.shown(unresolved), unresolved.c.name == name
        )
        async with self._database.read() as connection:
            found = sorted(tuple(row) for row in await connection.execute(query))
        places = [f"{path}:{line}" for path, line, _ in found[:limit]]
        return Sites(sum(sites for *_, sites in found), places)

    async def mentions(self, names: Collection[str]) -> list[Mention]:
        """Mentions of these names, by file."""
        columns = (mentions.c[each] for each in ("path", "name", "line", "sites"))
        named = *self._visibility.shown(mentions), mentions.c.name.in_(names)
        query = select(*columns).where(*named)
        async with self._database.read() as connection:
            return [Mention(*row) for row in sorted(map(tuple, await connection.execute(query)))]

    async def endpoints(self, keys: Collection[int] | None = None) -> list[Endpoint]:
        """Routes and requests, by file and line; only those of these entities, if given."""
        async with self._database.read() as connection:
            only = () if keys is None else (among(endpoints.c.entity, keys),)
            query = select(*ENDS).where(*self._visibility.shown(endpoints), *only)
            rows = await connection.execute(query)
            return [endpoint_of(row) for row in sorted(map(tuple, rows))]

    async def secrets(self) -> list[FileReport]:
        """The reports of files from whose text secrets were removed, by path."""
        async with self._database.read() as connection:
            return await self._reports(connection, files.c.secrets != "")

    async def reports(self, problems_only: bool = True) -> list[FileReport]:
        """The reports of files, by path; by default only those with a problem."""
        bad = (or_(files.c.problem != "", files.c.skipped),) if problems_only else ()
        async with self._database.read() as connection:
            return await self._reports(connection, *bad)

    async def page(
        self, after: int = 0, limit: int = 1_000, kinds: Collection[EntityKind] = ()
    ) -> list[tuple[int, Entity]]:
        """All entities in pages, each with its row id.

        Args:
            after: the last row id of the previous page, or 0.
            limit: the most entities.
            kinds: only these; all if empty.
        """
        query = (
            select(*SELECTED, entities.c.id)
            .where(*self._visibility.shown(entities), entities.c.id > after, *_only(kinds))
            .order_by(entities.c.id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [(row[-1], entity_of(row)) for row in await connection.execute(query)]

    async def _numbered(self, connection: AsyncConnection, ids: Collection[int]) -> list[Any]:
        """Rows by id; the ids must already belong to this view's layers.

        The query has no condition on the layer: with one, SQLite would scan the whole layer.
        """
        rows = await self._given(connection, "id", ids)
        overlay = self._visibility.overlay
        if overlay is None:
            return rows
        hidden = await self._visibility.hidden_keys(connection)
        over = range(first_id(overlay), end_id(overlay))
        return [row for row in rows if row[-1] in over or row[0] not in hidden]

    async def _by_keys(
        self, connection: AsyncConnection, keys: Collection[int]
    ) -> dict[int, Entity]:
        if not keys:
            return {}
        if self._visibility.overlay is None:
            rows = await self._given(connection, "key", keys)
            return {row[0]: entity_of(row) for row in rows}
        found = await self._entities(connection, among(entities.c.key, keys))
        return {each.key: each for each in found}

    async def _given(
        self, connection: AsyncConnection, by: Literal["id", "key"], values: Collection[int]
    ) -> list[Any]:
        named = {**self._visibility.values, "given": values}
        return list((await connection.execute(_chosen(by), named)).all())

    async def _entities(self, connection: AsyncConnection, *conditions: Any) -> list[Entity]:
        query = select(*SELECTED).where(*self._visibility.shown(entities), *conditions)
        return [entity_of(row) for row in await connection.execute(query)]

    async def _reports(self, connection: AsyncConnection, *conditions: Any) -> list[FileReport]:
        shown = self._visibility.shown(files), files.c.gone.is_(False)
        query = select(*REPORTED).where(*shown[0], shown[1], *conditions).order_by(files.c.path)
        return [report_of(row) for row in await connection.execute(query)]


@cache
def _chosen(by: Literal["id", "key"]) -> Select[Any]:
    """The query for entities of a base by key, or of any layer by row id."""
    mine = in_base(entities) if by == "key" else in_base(entities)[1:]
    return select(*SELECTED, entities.c.id).where(*mine, among_parameter(entities.c[by], "given"))


def _only(kinds: Iterable[EntityKind]) -> Sequence[Any]:
    codes = entity_codes(list(kinds))
    return (entities.c.kind.in_(codes),) if codes else ()


def _place(entity: Entity) -> tuple[str, int, str, int]:
    """The sort key of an entity by place. Keys differ between portals, so names come before
    them."""
    return entity.path, entity.line, entity.qualified, entity.key


def _to_reached(step: Step, found: dict[int, Entity], incoming: bool) -> Reached:
    entity = found[step.key]
    says = entity if incoming else found.get(step.via, entity)
    return Reached(
        entity=entity,
        depth=step.depth,
        via=step.via,
        path=says.path,
        line=step.line,
        strategy=STRATEGIES[step.strategy],
        confidence=SURE[step.strategy],
        sites=step.sites,
        kind=EDGE_KINDS[step.kind],
        sort=SORTS.get(step.kind),
    )
