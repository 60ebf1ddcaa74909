"""Who did what to which entry: ids alone, so that it can be kept when the entry is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.contract import Database

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


@dataclass(frozen=True, slots=True)
class Deed:
    """One line of the log.

    Attributes:
        person: who.
        operation: what: ``create``, ``update``, ``delete``, ``erase``, ``approve`` ...
        entry: the entry's id, or None where it has none yet.
        outcome: ``done``, ``pending``, ``refused`` ...
        request: the request's id, as logs and answers carry it.
        at: when; set as it is written.
    """

    person: str
    operation: str
    entry: str | None
    outcome: str
    request: str | None = None
    at: datetime | None = None


class AuditLog:
    """The log; the database itself refuses to change or remove a line.

    Args:
        database: the plugin's database.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def add(self, *deeds: Deed) -> None:
        """Write lines."""
        if deeds:
            async with self._database.begin() as connection:
                await self.added(connection, *deeds)

    async def added(self, connection: AsyncConnection, *deeds: Deed) -> None:
        """Write lines in the transaction of what they tell of."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import audit

        now = self._clock()
        lines = [
            {
                "at": now,
                "person": each.person,
                "operation": each.operation,
                "entry": each.entry,
                "outcome": each.outcome,
                "request": each.request,
            }
            for each in deeds
        ]
        await connection.execute(sa.insert(audit), lines)

    async def of(self, entry: str, limit: int = 100) -> Sequence[Deed]:
        """What was done to an entry, the latest first."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import audit

        lines = (
            sa.select(audit)
            .where(audit.c.entry == entry)
            .order_by(audit.c.number.desc())
            .limit(limit)
        )
        async with self._database.read() as connection:
            return [
                Deed(row.person, row.operation, row.entry, row.outcome, row.request, row.at)
                for row in await connection.execute(lines)
            ]
