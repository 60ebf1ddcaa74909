"""Which turns of conversations only ask something."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from gateway.contract import Database
from gateway.toolkit.sql import among_parameter
from plugins.knowledge.memory.algorithms.asking import MAX_CHARACTERS, only_asks
from plugins.knowledge.memory.store.tables import entries


async def asking_among(database: Database, numbers: Collection[int]) -> frozenset[int]:
    """The numbers of those of some turns that only ask something.

    Args:
        database: the plugin's.
        numbers: of entries that the caller may read.
    """
    if not numbers:
        return frozenset()
    async with database.read() as connection:
        rows = await connection.execute(_SHORT, {"numbers": sorted(numbers)})
        return frozenset(row.number for row in rows if only_asks(row.content))


_SHORT = sa.select(entries.c.number, entries.c.content).where(
    among_parameter(entries.c.number, "numbers"),
    sa.func.length(entries.c.content) <= MAX_CHARACTERS,
)
