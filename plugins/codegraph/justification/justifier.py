"""Keeps the justifications of repositories in step with their graphs: a step after each index.

Texts are read once for each state of a file; rules run over the whole graph in memory; rows are
written only where what is said has changed. It may be killed anywhere and begun again: what was
read is kept, and a layer counts as justified by a last row that is written when all else is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import and_, delete, or_, select, update

from gateway.contract import Database
from gateway.toolkit.sql import among, batches, insert_into
from plugins.codegraph.justification.cascade import Cascade
from plugins.codegraph.justification.columns import Columns, load
from plugins.codegraph.justification.corrections import (
    STALE,
    Corrections,
    columns_of,
    corrected,
    matching,
)
from plugins.codegraph.justification.features import aggregated
from plugins.codegraph.justification.justify import NOBODY, RULES, justify
from plugins.codegraph.justification.opinions.opinion import known
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.reading import SignalReader
from plugins.codegraph.justification.statements import CLASSES, Statement
from plugins.codegraph.store.codes import ENTITY_CODES
from plugins.codegraph.store.dialects import insert_rows
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import LayerGone, Layers
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import (
    features,
    justifications,
    justified,
    layers,
    repositories,
)

Progress = Callable[[int, int, str], None]
"""``progress(done, total, message)``; must return at once."""
_ROWS = 2_000
_COLUMNS = (
    *("layer", "org", "repo", "key", "path", "type", "feature", "technology", "confidence"),
    *("digest", "data"),
)


@dataclass(frozen=True, slots=True)
class Lagging:
    """A repository whose served layer is not justified, or not in its newest state.

    Attributes:
        org, repo, layer, generation: which, and which state.
        new: whether nothing of the layer is justified.
    """

    org: str
    repo: str
    layer: int
    generation: int
    new: bool


class Justifier:
    """Justifies repositories.

    Args:
        database: the plugin's database.
        store: the graphs.
    """

    def __init__(self, database: Database, store: GraphStore) -> None:
        self._database, self._store = database, store
        self._reader = SignalReader(database)
        self._corrections = Corrections(database)
        self._cascade = Cascade(database)
        self._opinions = Opinions(database)

    async def lagging(self) -> list[Lagging]:
        """The repositories that are to be justified."""
        served = and_(repositories.c.layer == layers.c.id, repositories.c.state == "active")
        joined = repositories.join(layers, served).outerjoin(
            justified, justified.c.layer == layers.c.id
        )
        behind = or_(
            justified.c.layer.is_(None),
            justified.c.generation != layers.c.generation,
            justified.c.rules != RULES,
        )
        query = (
            select(
                repositories.c.org,
                repositories.c.id,
                layers.c.id,
                layers.c.generation,
                justified.c.layer,
            )
            .select_from(joined)
            .where(behind)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [Lagging(*row[:4], new=row[4] is None) for row in rows]

    async def read(self, org: str, repo: str, progress: Progress) -> int:
        """Read the texts that have not been read; returns their number."""
        view = await self._store.view(org, repo)
        if view is None:
            return 0
        reports = await self._store.open(view).reports(False)
        return await self._reader.read(view, reports, progress)

    async def judge(self, org: str, repo: str, progress: Progress) -> dict[str, Any]:
        """Run the rules over a repository, and write what is new.

        Returns:
            The numbers of entities by class, and how many rows were written.
        """
        view = await self._store.view(org, repo)
        if view is None:
            return {"skipped": "It was removed, or has no index."}
        progress(0, 1, "justifying")
        _, statements = await self.said(view)
        waiting = await self._cascade.waiting(view)
        try:
            counts = await self._write(view, statements)
            await self._cascade.settle(view, waiting, statements)
        except LayerGone as gone:
            return {"skipped": str(gone)}
        progress(1, 1, "justifying")
        return counts

    async def said(self, view: RepositoryView) -> tuple[Columns, list[Statement]]:
        """The graph, and what is said of everything in it; nothing is written.

        Args:
            view: the repository, whose texts have been read (:meth:`read`).
        """
        reports = await self._store.open(view).reports(False)
        files, scripts = await self._reader.load(view, reports)
        ends = await self._store.open(view).endpoints()
        columns = await load(self._database, view, files, ends)
        find = matching(await self._corrections.of(view))
        heard = await self._opinions.finder(view)
        return columns, await asyncio.to_thread(_stated, columns, scripts, find, heard)

    async def stale(self, org: str, repo: str) -> None:
        """Have what is said of a repository be put together anew, since more is said."""
        mine = justified.c.org == org, justified.c.repo == repo
        async with self._database.begin() as connection:
            await connection.execute(update(justified).where(*mine).values(generation=STALE))

    async def run(
        self, org: str, repo: str, progress: Progress = lambda done, total, message: None
    ) -> dict[str, Any]:
        """Read and judge in one go, as a command does."""
        await self.read(org, repo, progress)
        return await self.judge(org, repo, progress)

    async def _write(self, view: RepositoryView, statements: Sequence[Statement]) -> dict[str, Any]:
        writer = self._store.layers(Owner(view.org, view.id))
        there = await self._there(view)
        new = [each for each in statements if there.pop(each.key, None) != each.digest]
        for some in batches(new, _ROWS):
            await self._replaced(writer, view, some)
        await self._gone(writer, view, list(there))
        found = await asyncio.to_thread(aggregated, statements)
        counts = {**_counted(statements), "features": _verticals(found), "written": len(new)}
        await self._finish(writer, view, found, counts)
        return counts

    async def _there(self, view: RepositoryView) -> dict[int, int]:
        query = select(justifications.c.key, justifications.c.digest).where(
            justifications.c.layer == view.layer, justifications.c.repo == view.id
        )
        async with self._database.read() as connection:
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def _replaced(
        self, writer: Layers, view: RepositoryView, some: Sequence[Statement]
    ) -> None:
        async with writer.serving(view.layer) as connection:
            keys = among(connection, justifications.c.key, [each.key for each in some])
            await connection.execute(
                delete(justifications).where(justifications.c.layer == view.layer, keys)
            )
            rows = [(view.layer, view.org, view.id, *columns_of(each).values()) for each in some]
            await insert_rows(connection, justifications, _COLUMNS, rows)

    async def _gone(self, writer: Layers, view: RepositoryView, keys: Sequence[int]) -> None:
        for some in batches(keys, _ROWS):
            async with writer.serving(view.layer) as connection:
                gone = among(connection, justifications.c.key, some)
                await connection.execute(
                    delete(justifications).where(justifications.c.layer == view.layer, gone)
                )

    async def _finish(
        self,
        writer: Layers,
        view: RepositoryView,
        found: Mapping[str, Mapping[str, Any]],
        counts: Mapping[str, Any],
    ) -> None:
        owner = {"org": view.org, "repo": view.id}
        rows = [
            {"layer": view.layer, **owner, "id": key, "name": each["name"], "data": each}
            for key, each in sorted(found.items())
        ]
        done = {"generation": view.generation, "rules": RULES, "at": datetime.now(UTC)}
        async with writer.serving(view.layer) as connection:
            await connection.execute(delete(features).where(features.c.layer == view.layer))
            if rows:
                await connection.execute(features.insert(), rows)
            mark = insert_into(connection, justified).values(
                layer=view.layer, **owner, **done, counts=counts
            )
            changed = {**done, "counts": counts}
            await connection.execute(
                mark.on_conflict_do_update(index_elements=["layer"], set_=changed)
            )


def _stated(
    columns: Columns,
    scripts: Mapping[tuple[str, str], str],
    find: matching,
    heard: known = NOBODY,
) -> list[Statement]:
    statements = []
    for each in justify(columns, scripts, find=heard):
        entity = columns.entities[columns.index[each.key]]
        kind = ENTITY_CODES[entity.kind]
        correction = find(each.key, entity.path, entity.qualified, kind)
        statements.append(each if correction is None else corrected(each, correction))
    return statements


def _counted(statements: Iterable[Statement]) -> dict[str, int]:
    counts = {kind.value: 0 for kind in CLASSES.values()}
    for each in statements:
        counts[CLASSES[each.type].value] += 1
    return counts


def _verticals(found: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(each["type"] == "VERTICAL" for each in found.values())


def decoded(data: bytes) -> Statement:
    """A statement from its stored form."""
    return msgspec.msgpack.decode(data, type=Statement)
