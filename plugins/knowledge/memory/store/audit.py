"""The audit log: who did what to which entry. It holds only ids, and so outlives the entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.knowledge.memory.store.tables import audit


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One line of the log.

    Attributes:
        person: who.
        operation: what: ``create``, ``update``, ``delete``, ``erase``, ``approve`` ...
        entry: the entry's id, or None where it has none yet.
        outcome: ``done``, ``pending``, ``refused`` ...
        about: what else it refers to: the id of an approval request, or of the entry that stands
            in place of this one, or that it was related to.
        at: when; set as it is written.
    """

    person: str
    operation: str
    entry: str | None
    outcome: str
    about: str | None = None
    at: datetime | None = None


class AuditLog:
    """The log; the database itself refuses to change or remove a line.

    Args:
        database: the plugin's database.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def add(self, *audit_records: AuditRecord) -> None:
        """Write lines."""
        if audit_records:
            async with self._database.begin() as connection:
                await self.add_in(connection, *audit_records)

    async def add_in(self, connection: AsyncConnection, *audit_records: AuditRecord) -> None:
        """Write lines in the transaction of what they tell of."""
        now = self._clock()
        lines = [
            {
                "at": now,
                "person": each.person,
                "operation": each.operation,
                "entry": each.entry,
                "outcome": each.outcome,
                "request": each.about,
            }
            for each in audit_records
        ]
        await connection.execute(sa.insert(audit), lines)

    async def of(self, entry: str, limit: int = 100) -> Sequence[AuditRecord]:
        """What was done to an entry, the latest first."""
        lines = (
            sa.select(audit)
            .where(audit.c.entry == entry)
            .order_by(audit.c.number.desc())
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [
                AuditRecord(row.person, row.operation, row.entry, row.outcome, row.request, row.at)
                for row in await connection.execute(lines)
            ]
