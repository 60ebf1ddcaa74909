"""Removes entries for good, inside a transaction of whoever asks for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from plugins.knowledge.memory.store.finding import unfindable
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.memory.store.reading import parts

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Update
    from sqlalchemy.ext.asyncio import AsyncConnection


async def erased(connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]) -> None:
    """Remove entries with their versions and vectors, and what events and requests said of them.

    That there were events and requests stays, for those who follow them.
    """
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import approvals, events

    await _removed(connection, kept, ids)
    for some in parts(sorted(ids)):
        told = sa.update(events).where(events.c.entry.in_(some))
        await connection.execute(told.values(body=None))
        waiting = sa.and_(approvals.c.entry.in_(some), approvals.c.state == "pending")
        asked = sa.update(approvals).where(waiting)
        await connection.execute(asked.values(payload=sa.null(), reason=None, state="failed"))


async def purged(connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]) -> None:
    """Remove entries with all that any table says of them; only the audit log keeps their ids."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import approvals, events

    await _removed(connection, kept, ids)
    # The last event stays, without what it was about: no number is given twice.
    newest = sa.select(sa.func.max(events.c.number)).scalar_subquery()
    for some in parts(sorted(ids)):
        own = events.c.entry.in_(some)
        await connection.execute(sa.delete(events).where(own, events.c.number < newest))
        await connection.execute(blank(own))
        await connection.execute(sa.delete(approvals).where(approvals.c.entry.in_(some)))


def blank(which: ColumnElement[bool]) -> Update:
    """Leave of events their numbers alone, and nobody who may hear of them."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import events

    return sa.update(events).where(which).values(entry="", layer="", readers=[], body=None)


async def _removed(connection: AsyncConnection, kept: KeptVectors, ids: Collection[str]) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries, versions

    for some in parts(sorted(ids)):
        gone = sa.delete(entries).where(entries.c.id.in_(some)).returning(entries.c.number)
        await unfindable(connection, list((await connection.execute(gone)).scalars()))
        await connection.execute(sa.delete(versions).where(versions.c.entry.in_(some)))
    await kept.forgotten(connection, ids)
