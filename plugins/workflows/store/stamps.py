"""Stamps: numbers that only grow, in the order in which transactions are committed."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows.store.dialects import insert_into
from plugins.workflows.tables import counters

_NAME = "stamp"


async def drawn(connection: AsyncConnection) -> int:
    """The next stamp; whoever else wants one waits until this transaction has ended.

    So draw it late. What the transaction did before is committed by the time that a higher stamp
    is seen.

    Args:
        connection: a writing transaction.
    """
    first = insert_into(connection, counters).values(name=_NAME, value=1)
    following = first.on_conflict_do_update(
        index_elements=[counters.c.name], set_={"value": counters.c.value + 1}
    )
    value = await connection.scalar(following.returning(counters.c.value))
    return int(value or 0)


async def newest(connection: AsyncConnection) -> int:
    """The stamp that was drawn last; 0 before the first."""
    return await connection.scalar(select(counters.c.value).where(counters.c.name == _NAME)) or 0
