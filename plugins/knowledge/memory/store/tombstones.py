"""Tombstones: deletion events for those who may no longer read an entry."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.knowledge.memory.model.labels import READER
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.rights.access import lost_readers
from plugins.knowledge.memory.store.tables import events, labels


async def insert_tombstone(
    connection: AsyncConnection, number: int, record: Record, at: datetime
) -> None:
    """Insert a deletion event for those who could read an entry and may not read its next version.

    Args:
        connection: the transaction of the change, in its turn; the entry's labels still stand.
        number: of the entry's row.
        record: the entry as it is to be.
        at: when.
    """
    own = sa.select(labels.c.label).where(labels.c.entry == number)
    every = await connection.scalars(own.where(labels.c.label.startswith(READER)))
    left = lost_readers({label.removeprefix(READER) for label in every}, record.readers)
    if left:
        told = {"kind": "deleted", "entry": record.id, "layer": str(record.layer)}
        await connection.execute(
            sa.insert(events).values(**told, readers=sorted(left), at=at, body=sa.null())
        )
