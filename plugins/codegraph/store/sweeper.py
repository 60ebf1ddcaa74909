"""Deletes unused rows in short transactions, and removed repositories completely."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import exclusive, is_postgres, lock_number
from plugins.codegraph.store.change_tables import OF_CHANGES
from plugins.codegraph.store.dialects import delete_some
from plugins.codegraph.store.file_rows import MAX_ROWS
from plugins.codegraph.store.fulltext import full_text
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.tables import KEPT, LAYERED, SHARED, files, layers

GRACE = timedelta(minutes=10)
"""How long a replaced layer is kept: the next page of an answer may still read it."""
_WORDS = "codegraph_words"


class Sweeper:
    """Deletes dead layers, and removed repositories.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sweep(self, grace: timedelta = GRACE) -> int:
        """Delete dead layers, and the texts of their repositories that no layer needs any more.

        It may be interrupted at any point, and run in several processes at once.

        Args:
            grace: the minimum time since a layer died.

        Returns:
            The number of deleted rows.
        """
        now = datetime.now(UTC)
        await self._expire(now)
        over = (
            layers.c.state == "dead",
            or_(layers.c.ended.is_(None), layers.c.ended <= now - grace),
        )
        query = select(layers.c.id, layers.c.org, layers.c.repo).where(*over)
        async with self._database.read() as connection:
            found = (await connection.execute(query)).all()
        deleted = 0
        for layer, _, _ in found:
            deleted += sum((await self._layer(layer)).values())
        for owner in {Owner(org, repo) for _, org, repo in found}:
            deleted += await self._unused(owner)
        return deleted

    async def purge(self, owner: Owner) -> dict[str, int]:
        """Delete every row of a repository except its row in the registry.

        It may be called again if it was interrupted.

        Returns:
            The number of deleted rows by table.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("codegraph", owner.repo))
            dead = update(layers).where(*_of(layers, owner))
            await connection.execute(dead.values(state="dead", ended=datetime.now(UTC)))
            found = (await connection.scalars(select(layers.c.id).where(*_of(layers, owner)))).all()
        counts: dict[str, int] = {}
        for layer in found:
            for name, count in (await self._layer(layer)).items():
                counts[name] = counts.get(name, 0) + count
        # Also rows without a layer row, left by a crash or an earlier version.
        for table in (*LAYERED, *SHARED, *KEPT, *OF_CHANGES, layers):
            rows = await self._delete(table, and_(*_of(table, owner)))
            counts[table.name] = counts.get(table.name, 0) + rows
        return counts

    async def leftovers(self, owner: Owner) -> dict[str, int]:
        """The row counts of a repository by table, without empty tables."""
        counts: dict[str, int] = {}
        async with self._database.read() as connection:
            for table in (*LAYERED, *SHARED, *KEPT, *OF_CHANGES, layers):
                query = select(func.count()).select_from(table).where(*_of(table, owner))
                counts[table.name] = int(await connection.scalar(query) or 0)
            counts[_WORDS] = await _words_left(connection, owner)
        return {name: count for name, count in counts.items() if count}

    async def _expire(self, now: datetime) -> None:
        async with self._database.read() as connection:
            over = select(layers.c.id).where(layers.c.state == "ready", layers.c.expires <= now)
            found = (await connection.scalars(over)).all()
        if found:
            async with self._database.begin() as connection:
                ended = update(layers).where(layers.c.id.in_(found), layers.c.state == "ready")
                await connection.execute(ended.values(state="dead", ended=now))

    async def _layer(self, layer: int) -> dict[str, int]:
        async with self._database.begin() as connection:
            await connection.execute(select(1))
            await full_text(connection).drop(connection, layer)
        counts = {
            table.name: await self._delete(table, table.c.layer == layer) for table in LAYERED
        }
        async with self._database.begin() as connection:
            done = await connection.execute(delete(layers).where(layers.c.id == layer))
            counts[layers.name] = done.rowcount
        return counts

    async def _delete(self, table: Table, condition: ColumnElement[bool]) -> int:
        deleted = 0
        while True:
            async with self._database.begin() as connection:
                rows = await delete_some(connection, table, condition, MAX_ROWS)
            deleted += rows
            if rows < MAX_ROWS:
                return deleted

    async def _unused(self, owner: Owner) -> int:
        """Delete texts that no layer of a repository needs; not while it is indexed."""
        alive = select(layers.c.id).where(*_of(layers, owner), layers.c.state != "dead")
        building = exists(alive.where(layers.c.state == "building"))
        used = select(files.c.digest).where(files.c.layer.in_(alive))
        deleted = 0
        for table in SHARED:
            condition = and_(*_of(table, owner), ~building, table.c.digest.not_in(used))
            deleted += await self._delete(table, condition)
        return deleted


def _of(table: Table, owner: Owner) -> Sequence[Any]:
    return table.c.org == owner.org, table.c.repo == owner.repo


async def _words_left(connection: AsyncConnection, owner: Owner) -> int:
    """The number of a repository's full-text rows, or of SQLite's indexes.

    SQLite's indexes are named by layer alone; those of layers that no longer exist count too.
    """
    if is_postgres(connection):
        query = "SELECT count(*) FROM codegraph_words WHERE org = $1 AND repo = $2"
        found = await connection.exec_driver_sql(query, (owner.org, owner.repo))
        return int(found.scalar_one())
    found = await connection.exec_driver_sql(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' "
        "AND sql LIKE 'CREATE VIRTUAL TABLE codegraph_words_%' "
        "AND CAST(substr(name, 17) AS INTEGER) NOT IN "
        "(SELECT id FROM codegraph_layers WHERE NOT (org = ? AND repo = ?))",
        (owner.org, owner.repo),
    )
    return int(found.scalar_one())
