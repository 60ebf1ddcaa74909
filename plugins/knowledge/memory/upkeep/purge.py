"""Removes for good what nobody can see any more, and what was kept for a limited time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement

from gateway.contract import Database
from plugins.knowledge.memory.model.record import UPKEEP
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.store.erasure import blank_events, purge_entries
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.memory.store.tables import approvals, entries, events
from plugins.knowledge.memory.store.writes import lock_event_order
from plugins.knowledge.memory.write.entries import Entries

FORGOTTEN_RETENTION = timedelta(days=30)
"""How long an entry that was forgotten is kept."""
EVENT_RETENTION = timedelta(days=7)
"""How long what happened can be followed."""
DECIDED_RETENTION = timedelta(days=90)
"""How long a request is kept after it was decided."""
PENDING_TIMEOUT = timedelta(days=30)
"""How long a request waits: who asked may not have the right any more that they had then."""
CHUNK_SIZE = 100
"""Entries of one transaction; other writes wait for it."""


@dataclass(frozen=True, slots=True)
class Purge:
    """Removes what has expired, in portions of one transaction each.

    Attributes:
        entries: memory's stores.
        database: the plugin's database.
    """

    entries: Entries
    database: Database

    async def expired(self) -> dict[str, int]:
        """Remove entries that have expired, or were forgotten long ago."""
        now = self.entries.clock()
        return {
            "expired": await self._purge(entries.c.expires <= now),
            "purged": await self._purge(entries.c.deleted <= now - FORGOTTEN_RETENTION),
        }

    async def events(self) -> dict[str, int]:
        """Remove events that are older than anyone may follow; the last one stays.

        Its number does, that is: the next one must be greater.
        """
        before, removed = self.entries.clock() - EVENT_RETENTION, 0
        newest = sa.select(sa.func.max(events.c.number)).scalar_subquery()
        old = sa.select(events.c.number).where(events.c.at <= before, events.c.number < newest)
        some = old.order_by(events.c.number).limit(10 * CHUNK_SIZE)
        while True:
            async with self.database.begin() as connection:
                numbers = list(await connection.scalars(some))
                await connection.execute(sa.delete(events).where(events.c.number.in_(numbers)))
                await connection.execute(blank_events(events.c.at <= before))
            removed += len(numbers)
            if len(numbers) < 10 * CHUNK_SIZE:
                return {"events": removed}

    async def requests(self) -> dict[str, int]:
        """Give up requests that nobody decides, and remove those decided long ago."""
        now = self.entries.clock()
        over = sa.func.coalesce(approvals.c.decided_at, approvals.c.requested_at)
        decided = approvals.c.state != "pending"
        late = sa.update(approvals).where(
            approvals.c.state == "pending", approvals.c.requested_at <= now - PENDING_TIMEOUT
        )
        given_up = late.values(
            state="failed",
            payload=sa.null(),
            decided_at=now,
            note=f"Nobody decided within {PENDING_TIMEOUT.days} days. Ask again, if it is still "
            "wanted.",
        )
        async with self.database.begin() as connection:
            told = await connection.execute(
                given_up.returning(approvals.c.id, approvals.c.entry, approvals.c.operation)
            )
            lost = [
                AuditRecord(UPKEEP, row.operation, row.entry, "expired", row.id) for row in told
            ]
            if lost:
                await self.entries.audit.add_in(connection, *lost)
            gone = sa.delete(approvals).where(decided, over <= now - DECIDED_RETENTION)
            removed = await connection.execute(gone.returning(approvals.c.id))
            return {"given_up": len(lost), "requests": len(removed.all())}

    async def _purge(self, over: ColumnElement[bool]) -> int:
        """Remove the entries of which this holds, wherever they are named but in the audit log."""
        some = sa.select(entries.c.id).where(over).order_by(entries.c.number).limit(CHUNK_SIZE)
        kept = KeptVectors(self.database)
        count = 0
        while True:
            async with self.database.begin() as connection:
                await lock_event_order(connection)
                ids: Sequence[Any] = list(await connection.scalars(some))
                if ids:
                    await purge_entries(connection, kept, ids)
                    audit_records = [AuditRecord(UPKEEP, "purge", id, "done") for id in ids]
                    await self.entries.audit.add_in(connection, *audit_records)
            if ids and self.entries.vectors is not None:
                await self.entries.vectors.hide(ids)
            count += len(ids)
            if len(ids) < CHUNK_SIZE:
                return count
