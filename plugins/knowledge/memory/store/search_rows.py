"""The rows by which entries are found and filtered: their words and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.knowledge.memory.model.labels import labels
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store import tables
from plugins.knowledge.memory.store.words import weights


async def insert_search_rows(
    connection: AsyncConnection, records: Iterable[tuple[int, Record]]
) -> None:
    """Insert the words and labels of entries, each given with the number of its row."""
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


async def delete_search_rows(connection: AsyncConnection, numbers: Sequence[int]) -> None:
    """Delete the words and labels of entries, given the numbers of their rows."""
    if numbers:
        for table in (tables.labels, tables.words):
            await connection.execute(sa.delete(table).where(table.c.entry.in_(numbers)))
