"""Removes for good what nobody can see any more, and what was kept for a time only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gateway.contract import Database
from plugins.knowledge.memory.records import UPKEEP
from plugins.knowledge.memory.store.audit import AuditLog, Deed
from plugins.knowledge.memory.store.erasing import blank, purged
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.memory.store.writing import in_turn
from plugins.knowledge.memory.vectors import MemoryVectors

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

FORGOTTEN = timedelta(days=30)
"""How long an entry that was forgotten is kept."""
TOLD = timedelta(days=7)
"""How long what happened can be followed."""
DECIDED = timedelta(days=90)
"""How long a request is kept after it was decided."""
WAITED = timedelta(days=30)
"""How long a request waits: who asked may not have the right any more that they had then."""
AT_ONCE = 100
"""Entries of one transaction; other writes wait for it."""


@dataclass(frozen=True, slots=True)
class Purging:
    """Removes what is over, some of it in each transaction.

    Attributes:
        database: the plugin's database.
        audit: the log of who did what; it keeps ids.
        vectors: the vector store, or None where the portal has no model.
        clock: gives the time, with its zone.
    """

    database: Database
    audit: AuditLog
    vectors: MemoryVectors | None
    clock: Callable[[], datetime]

    async def entries(self) -> dict[str, int]:
        """Remove entries that have expired, or were forgotten long ago."""
        from plugins.knowledge.memory.store.tables import entries

        now = self.clock()
        return {
            "expired": await self._purge(entries.c.expires <= now),
            "purged": await self._purge(entries.c.deleted <= now - FORGOTTEN),
        }

    async def events(self) -> dict[str, int]:
        """Remove events that are older than anyone may follow; the last one stays.

        Its number does, that is: the next one must be greater.
        """
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import events

        before, removed = self.clock() - TOLD, 0
        newest = sa.select(sa.func.max(events.c.number)).scalar_subquery()
        old = sa.select(events.c.number).where(events.c.at <= before, events.c.number < newest)
        some = old.order_by(events.c.number).limit(10 * AT_ONCE)
        while True:
            async with self.database.begin() as connection:
                numbers = list(await connection.scalars(some))
                await connection.execute(sa.delete(events).where(events.c.number.in_(numbers)))
                await connection.execute(blank(events.c.at <= before))
            removed += len(numbers)
            if len(numbers) < 10 * AT_ONCE:
                return {"events": removed}

    async def requests(self) -> dict[str, int]:
        """Give up requests that nobody decides, and remove those decided long ago."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import approvals

        now = self.clock()
        over = sa.func.coalesce(approvals.c.decided_at, approvals.c.requested_at)
        decided = approvals.c.state != "pending"
        late = sa.update(approvals).where(
            approvals.c.state == "pending", approvals.c.requested_at <= now - WAITED
        )
        given_up = late.values(
            state="failed",
            payload=sa.null(),
            decided_at=now,
            note=f"Nobody decided within {WAITED.days} days. Ask again, if it is still wanted.",
        )
        async with self.database.begin() as connection:
            told = await connection.execute(
                given_up.returning(approvals.c.id, approvals.c.entry, approvals.c.operation)
            )
            lost = [Deed(UPKEEP, row.operation, row.entry, "expired", row.id) for row in told]
            if lost:
                await self.audit.added(connection, *lost)
            gone = sa.delete(approvals).where(decided, over <= now - DECIDED)
            removed = await connection.execute(gone.returning(approvals.c.id))
            return {"given_up": len(lost), "requests": len(removed.all())}

    async def _purge(self, over: ColumnElement[bool]) -> int:
        """Remove the entries of which this holds, wherever they are named but in the audit log."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries

        some = sa.select(entries.c.id).where(over).order_by(entries.c.number).limit(AT_ONCE)
        kept = KeptVectors(self.database)
        count = 0
        while True:
            async with self.database.begin() as connection:
                await in_turn(connection)
                ids: Sequence[Any] = list(await connection.scalars(some))
                if ids:
                    await purged(connection, kept, ids)
                    deeds = [Deed(UPKEEP, "purge", id, "done") for id in ids]
                    await self.audit.added(connection, *deeds)
            if ids and self.vectors is not None:
                await self.vectors.hide(ids)
            count += len(ids)
            if len(ids) < AT_ONCE:
                return count
