"""Edges from SCIP indexers, added to a layer while it is served, and removed again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import exclusive, lock_number
from plugins.codegraph.model import Strategy
from plugins.codegraph.store.codes import STRATEGY_CODES
from plugins.codegraph.store.dialects import delete_some
from plugins.codegraph.store.file_rows import MAX_ROWS, insert_edges
from plugins.codegraph.store.layers import LayerGone
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import EdgeRow
from plugins.codegraph.store.tables import edges, incoming, layers

_ADDED = STRATEGY_CODES[Strategy.SCIP]


class Additions:
    """The SCIP edges of one layer, in the generation that they were computed for.

    Args:
        database: the plugin's database.
        owner: the owner of the layer.
        layer: its number.
        generation: its generation.
    """

    def __init__(self, database: Database, owner: Owner, layer: int, generation: int) -> None:
        self._database, self._owner = database, owner
        self._layer, self._generation = layer, generation

    async def write(self, rows: Sequence[EdgeRow]) -> None:
        """Add edges, in short transactions.

        Raises:
            LayerGone: the layer is no longer served, or was changed.
        """
        some = MAX_ROWS // 2  # each is two rows
        for start in range(0, len(rows), some):
            async with self._held() as connection:
                await insert_edges(connection, self._owner, self._layer, rows[start : start + some])

    async def clear(self, *, changed: bool = False) -> None:
        """Remove all edges added before.

        Args:
            changed: whether a newer generation of the layer is acceptable.

        Raises:
            LayerGone: the layer is no longer served, or was changed.
        """
        for table in (edges, incoming):
            here = (table.c.layer == self._layer) & (table.c.strategy == _ADDED)
            async with self._database.read() as connection:
                if await connection.scalar(select(table.c.source).where(here).limit(1)) is None:
                    continue
            rows = MAX_ROWS
            while rows == MAX_ROWS:
                async with self._held(changed=changed) as connection:
                    rows = await delete_some(connection, table, here, MAX_ROWS)

    @asynccontextmanager
    async def _held(self, *, changed: bool = False) -> AsyncGenerator[AsyncConnection]:
        mine = layers.c.org == self._owner.org, layers.c.repo == self._owner.repo
        query = select(layers.c.state, layers.c.generation)
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("codegraph", self._owner.repo))
            query = query.where(layers.c.id == self._layer, *mine)
            row = (await connection.execute(query)).first()
            if row is None or row.state != "ready":
                raise LayerGone("another index took its place meanwhile")
            if not changed and row.generation != self._generation:
                raise LayerGone("files were changed meanwhile")
            yield connection
