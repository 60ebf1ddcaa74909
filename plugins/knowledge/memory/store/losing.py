"""Tells those who may not read an entry any more that it is gone, as far as they know."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from plugins.knowledge.memory.access import lost
from plugins.knowledge.memory.labels import READER
from plugins.knowledge.memory.records import Record

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


async def tell_lost(connection: AsyncConnection, number: int, record: Record, at: datetime) -> None:
    """Note an event for those who could read an entry and may not read what it is to be.

    Args:
        connection: the transaction of the change, in its turn; the entry's labels still stand.
        number: of the entry's row.
        record: the entry as it is to be.
        at: when.
    """
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import events, labels

    own = sa.select(labels.c.label).where(labels.c.entry == number)
    every = await connection.scalars(own.where(labels.c.label.startswith(READER)))
    left = lost({label.removeprefix(READER) for label in every}, record.readers)
    if left:
        told = {"kind": "deleted", "entry": record.id, "layer": str(record.layer)}
        await connection.execute(
            sa.insert(events).values(**told, readers=sorted(left), at=at, body=sa.null())
        )
