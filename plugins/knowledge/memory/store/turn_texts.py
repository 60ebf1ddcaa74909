"""What turns of conversations are like, as far as that tells whether they answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from gateway.contract import Database
from gateway.toolkit.sql import among_parameter
from plugins.knowledge.memory.algorithms.asking import MAX_CHARACTERS, only_asks
from plugins.knowledge.memory.algorithms.turns import ShortTurn
from plugins.knowledge.memory.model.labels import VOICE
from plugins.knowledge.memory.store.tables import entries, labels


async def short_turns(database: Database, numbers: Collection[int]) -> Mapping[int, ShortTurn]:
    """Those of some turns that are no longer than one that may be only a question.

    Args:
        database: the plugin's.
        numbers: of entries that the caller may read.

    Returns:
        What they are like, by their numbers.
    """
    if not numbers:
        return {}
    async with database.read() as connection:
        rows = await connection.execute(_SHORT, {"numbers": sorted(numbers)})
        return {row.number: ShortTurn(len(row.content), only_asks(row.content)) for row in rows}


async def spoken(database: Database, numbers: Collection[int]) -> frozenset[int]:
    """Those of some entries that somebody says: turns, and what has an author.

    Args:
        database: the plugin's.
        numbers: of entries that the caller may read.
    """
    async with database.read() as connection:
        return frozenset(await connection.scalars(_SPOKEN, {"numbers": sorted(numbers)}))


_SHORT = sa.select(entries.c.number, entries.c.content).where(
    among_parameter(entries.c.number, "numbers"),
    sa.func.length(entries.c.content) <= MAX_CHARACTERS,
)
_SPOKEN = sa.select(labels.c.entry).where(
    among_parameter(labels.c.entry, "numbers"), labels.c.label.startswith(VOICE)
)
