"""The rows by which entries are found and filtered: their words, labels, and what they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.knowledge.memory.algorithms.entities import entities_in
from plugins.knowledge.memory.model.labels import labels
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store import tables
from plugins.knowledge.memory.store.words import weights


async def insert_search_rows(
    connection: AsyncConnection, records: Iterable[tuple[int, Record]]
) -> None:
    """Insert the words, labels and names of entries, each given with the number of its row."""
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
    naming = [
        {"entity": entity, "entry": number}
        for number, record in listed
        for entity in sorted(entities_in(record.text, record.metadata.tags))
    ]
    for table, rows in (
        (tables.labels, labelled),
        (tables.words, worded),
        (tables.entities, naming),
    ):
        if rows:
            await connection.execute(sa.insert(table), rows)


async def delete_search_rows(connection: AsyncConnection, numbers: Sequence[int]) -> None:
    """Delete the words, labels and names of entries, given the numbers of their rows."""
    if numbers:
        for table in (tables.labels, tables.words, tables.entities):
            await connection.execute(sa.delete(table).where(table.c.entry.in_(numbers)))
