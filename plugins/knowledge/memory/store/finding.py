"""What entries are found by, and held back by: the rows of their words and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from plugins.knowledge.memory.labels import labels
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.store.words import weights

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


async def findable(connection: AsyncConnection, records: Iterable[tuple[int, Record]]) -> None:
    """Let entries be found, each given with the number of its row."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store import tables

    listed = list(records)
    labelled = [
        {"entry": number, "label": label}
        for number, record in listed
        for label in sorted(labels(record))
    ]
    worded = [
        {"layer": str(record.layer), "entry": number, "term": term, "weight": weight}
        for number, record in listed
        for term, weight in weights(record.text).items()
    ]
    if labelled:
        await connection.execute(sa.insert(tables.labels), labelled)
    if worded:
        await connection.execute(sa.insert(tables.words), worded)


async def unfindable(connection: AsyncConnection, numbers: Sequence[int]) -> None:
    """Let the entries of these rows be found no more."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store import tables

    if numbers:
        for table in (tables.labels, tables.words):
            await connection.execute(sa.delete(table).where(table.c.entry.in_(numbers)))
