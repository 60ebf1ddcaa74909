"""A sequence whose numbers follow the order in which transactions are committed."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import insert_into
from plugins.workflows.store.tables import counters

_NAME = "stamp"


async def next_value(connection: AsyncConnection) -> int:
    """The next number; other transactions wait for theirs until this one has ended.

    So take it late. By the time anyone sees a higher number, this transaction is committed.

    Args:
        connection: a writing transaction.
    """
    first = insert_into(connection, counters).values(name=_NAME, value=1)
    following = first.on_conflict_do_update(
        index_elements=[counters.c.name], set_={"value": counters.c.value + 1}
    )
    value = await connection.scalar(following.returning(counters.c.value))
    return int(value or 0)


async def latest_value(connection: AsyncConnection) -> int:
    """The last number taken; 0 before the first."""
    return await connection.scalar(select(counters.c.value).where(counters.c.name == _NAME)) or 0
