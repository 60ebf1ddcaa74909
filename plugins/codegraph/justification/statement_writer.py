"""Writes what is said of entities: rows only where it has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, select, update

from gateway.contract import Database
from gateway.toolkit.sql import among, batches, insert_into
from plugins.codegraph.justification.corrections import columns_of
from plugins.codegraph.justification.features import aggregated
from plugins.codegraph.justification.justify import RULES
from plugins.codegraph.justification.outline import Outline, packed
from plugins.codegraph.justification.statements import CLASSES, Statement
from plugins.codegraph.store.dialects import insert_rows
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.layers import Layers
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import features, justifications, justified

_ROWS = 2_000
_COLUMNS = (
    *("layer", "org", "repo", "key", "path", "type", "feature", "technology", "confidence"),
    *("digest", "data"),
)


class StatementWriter:
    """Writes statements.

    Args:
        database: the plugin's database.
        store: the graphs.
    """

    def __init__(self, database: Database, store: GraphStore) -> None:
        self._database, self._store = database, store

    async def whole(
        self, view: RepositoryView, statements: Sequence[Statement], outline: Outline
    ) -> dict[str, Any]:
        """Write all that is said of a repository.

        Args:
            view: the repository.
            statements: what is said of every entity.
            outline: the repository's.

        Returns:
            The numbers of entities by class and of features, and how many rows were written.

        Raises:
            LayerGone: the layer is no longer served.
        """
        there = await self._there(view)
        new = await self._changed(view, there, statements)
        await self._gone(view, there.keys() - {each.key for each in statements})
        found = await asyncio.to_thread(aggregated, statements)
        counts = {**_counted(statements), "features": _verticals(found), "written": new}
        await self._finish(view, found, counts, outline)
        return counts

    async def part(
        self,
        view: RepositoryView,
        statements: Sequence[Statement],
        keys: Collection[int],
        since: int,
    ) -> int:
        """Write what is said of some entities; of those without a statement nothing is said.

        Args:
            view: the repository.
            statements: what is said of them.
            keys: all of them.
            since: the generation of which the whole was said; of another, all is said anew.

        Returns:
            How many rows were written.

        Raises:
            LayerGone: the layer is no longer served.
        """
        there = await self._there(view, keys)
        new = await self._changed(view, there, statements)
        await self._gone(view, there.keys() - {each.key for each in statements})
        mine = justified.c.layer == view.layer, justified.c.generation == since
        async with self._layers(view).serving(view.layer) as connection:
            followed = update(justified).where(*mine).values(followed=view.generation)
            await connection.execute(followed)
        return new

    async def _there(
        self, view: RepositoryView, keys: Collection[int] | None = None
    ) -> dict[int, int]:
        """What is written already: digests by key."""
        query = select(justifications.c.key, justifications.c.digest).where(
            justifications.c.layer == view.layer, justifications.c.repo == view.id
        )
        async with self._database.read() as connection:
            if keys is not None:
                query = query.where(among(justifications.c.key, keys))
            return {row[0]: row[1] for row in await connection.execute(query)}

    async def _changed(
        self, view: RepositoryView, there: Mapping[int, int], statements: Iterable[Statement]
    ) -> int:
        new = [each for each in statements if there.get(each.key) != each.digest]
        for some in batches(new, _ROWS):
            async with self._layers(view).serving(view.layer) as connection:
                keys = among(justifications.c.key, [each.key for each in some])
                await connection.execute(
                    delete(justifications).where(justifications.c.layer == view.layer, keys)
                )
                rows = [
                    (view.layer, view.org, view.id, *columns_of(each).values()) for each in some
                ]
                await insert_rows(connection, justifications, _COLUMNS, rows)
        return len(new)

    async def _gone(self, view: RepositoryView, keys: Collection[int]) -> None:
        for some in batches(sorted(keys), _ROWS):
            async with self._layers(view).serving(view.layer) as connection:
                gone = among(justifications.c.key, some)
                await connection.execute(
                    delete(justifications).where(justifications.c.layer == view.layer, gone)
                )

    async def _finish(
        self,
        view: RepositoryView,
        found: Mapping[str, Mapping[str, Any]],
        counts: Mapping[str, Any],
        outline: Outline,
    ) -> None:
        owner = {"org": view.org, "repo": view.id}
        rows = [
            {"layer": view.layer, **owner, "id": key, "name": each["name"], "data": each}
            for key, each in sorted(found.items())
        ]
        done = {
            "generation": view.generation,
            "rules": RULES,
            "at": datetime.now(UTC),
            "counts": counts,
            "outline": packed(outline),
            "followed": None,
        }
        async with self._layers(view).serving(view.layer) as connection:
            await connection.execute(delete(features).where(features.c.layer == view.layer))
            if rows:
                await connection.execute(features.insert(), rows)
            mark = insert_into(connection, justified).values(layer=view.layer, **owner, **done)
            await connection.execute(
                mark.on_conflict_do_update(index_elements=["layer"], set_=done)
            )

    def _layers(self, view: RepositoryView) -> Layers:
        return self._store.layers(Owner(view.org, view.id))


def _counted(statements: Iterable[Statement]) -> dict[str, int]:
    counts = {kind.value: 0 for kind in CLASSES.values()}
    for each in statements:
        counts[CLASSES[each.type].value] += 1
    return counts


def _verticals(found: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(each["type"] == "VERTICAL" for each in found.values())
