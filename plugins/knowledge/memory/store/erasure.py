"""Removes entries for good, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import batches
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.memory.store.search_rows import delete_search_rows
from plugins.knowledge.memory.store.tables import approvals, entries, events, relations, versions


async def erase_entries(
    connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]
) -> None:
    """Remove entries with their versions and vectors, and what events said of them.

    That there were events stays, for those who follow them. Requests about them end before.
    """
    await _delete_entries(connection, kept, ids)
    for some in batches(sorted(ids)):
        told = sa.update(events).where(events.c.entry.in_(some))
        await connection.execute(told.values(body=None))


async def purge_entries(
    connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]
) -> None:
    """Remove entries with all that any table says of them; only the audit log keeps their ids."""
    await _delete_entries(connection, kept, ids)
    # The last event stays, without what it was about: no number is given twice.
    newest = sa.select(sa.func.max(events.c.number)).scalar_subquery()
    for some in batches(sorted(ids)):
        own = events.c.entry.in_(some)
        await connection.execute(sa.delete(events).where(own, events.c.number < newest))
        await connection.execute(blank_events(own))
        await connection.execute(sa.delete(approvals).where(approvals.c.entry.in_(some)))


def blank_events(which: ColumnElement[bool]) -> Update:
    """Leave of events their numbers alone, and nobody who may hear of them."""
    return sa.update(events).where(which).values(entry="", layer="", readers=[], body=None)


async def _delete_entries(
    connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]
) -> None:
    for some in batches(sorted(ids)):
        gone = sa.delete(entries).where(entries.c.id.in_(some)).returning(entries.c.number)
        await delete_search_rows(connection, list((await connection.execute(gone)).scalars()))
        await connection.execute(sa.delete(versions).where(versions.c.entry.in_(some)))
        named = sa.or_(relations.c.entry.in_(some), relations.c.target.in_(some))
        await connection.execute(sa.delete(relations).where(named))
    await kept.delete_in(connection, ids)
