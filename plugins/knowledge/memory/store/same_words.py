"""Entries that hold the same words: a turn of a conversation, and what was found in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa

from gateway.contract import Database
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.tables import entries
from plugins.knowledge.memory.store.visibility import key_values, readable


async def same_words(
    database: Database, clock: Callable[[], datetime], record: Record, keys: frozenset[str]
) -> list[Record]:
    """The turn whose words an entry has, and what was found in it, in the order of writing.

    Args:
        database: the plugin's.
        clock: gives the time, with its zone.
        record: a turn, or what was found in one.
        keys: of who asks; what these may not read is left out.
    """
    turn = record.number if record.taken_from is None else record.taken_from
    if not turn or not keys:
        return []  # working memory is numbered nowhere
    told = sa.or_(entries.c.number == turn, entries.c.taken_from == turn)
    others = sa.select(entries).where(told, entries.c.number != record.number, readable())
    async with database.read() as connection:
        rows = await connection.execute(
            others.order_by(entries.c.number), key_values(keys, clock())
        )
        return [record_of(row) for row in rows]
