"""Who wrote what somebody may read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa

from gateway.contract import Database
from plugins.knowledge.memory.model.labels import author
from plugins.knowledge.memory.store.tables import entries, labels
from plugins.knowledge.memory.store.visibility import key_values, readable, writer

MAX_AUTHORS = 1_000
"""Of each kind."""


async def readable_authors(
    database: Database, clock: Callable[[], datetime], keys: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of the people who wrote what one of the keys may read, and whom that names.

    Args:
        database: the plugin's.
        clock: gives the time, with its zone.
        keys: the caller's.
    """
    if not keys:
        return frozenset(), frozenset()
    seen, kind = key_values(keys, clock()), author("")
    wrote = sa.select(writer()).where(readable()).distinct().limit(MAX_AUTHORS)
    own = sa.and_(labels.c.entry == entries.c.number, labels.c.label.startswith(kind))
    named = sa.select(labels.c.label).select_from(entries.join(labels, own)).where(readable())
    async with database.read() as connection:
        people = frozenset(await connection.scalars(wrote, seen))
        said = await connection.scalars(named.distinct().limit(MAX_AUTHORS), seen)
        return people, frozenset(each.removeprefix(kind) for each in said)
