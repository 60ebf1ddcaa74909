"""Inserts the rows of entries and of their versions, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.rows import row_of
from plugins.knowledge.memory.store.search_rows import insert_search_rows
from plugins.knowledge.memory.store.tables import entries, versions


async def insert_entries(connection: AsyncConnection, records: Sequence[Record]) -> None:
    """Add new entries, which are found from now on."""
    numbers: dict[str, int] = {}
    for some in (records[start : start + 50] for start in range(0, len(records), 50)):
        rows = await connection.execute(
            sa.insert(entries).returning(entries.c.id, entries.c.number),
            [row_of(each) for each in some],
        )
        numbers |= {row.id: row.number for row in rows}
    await insert_search_rows(connection, [(numbers[each.id], each) for each in records])


async def insert_versions(
    connection: AsyncConnection, records: Sequence[Record], by: str, approved_by: str | None = None
) -> None:
    """Keep what entries say now as a version, with who may read that version.

    Args:
        connection: the transaction that writes them.
        records: the entries.
        by: who writes.
        approved_by: who allowed it, where that was somebody else.
    """
    kept = [
        {
            "entry": each.id,
            "version": each.version,
            "at": max(each.changed, each.placed),
            "by": by,
            "fields": each.fields() if each.versioned else None,
            "readers": sorted(each.readers),
            "approved_by": approved_by,
        }
        for each in records
    ]
    if kept:
        await connection.execute(sa.insert(versions), kept)
