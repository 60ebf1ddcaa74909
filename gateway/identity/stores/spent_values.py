"""Values that may be used once, and the log of recent revocations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import func, insert, select

from auth.stores import digest
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import revocations, spent
from gateway.toolkit.sql import exclusive, insert_into, lock_number


class SqlSpent:
    """``auth.stores.SpentStore`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def spend(self, key: str, until: datetime) -> bool:
        """Note a use; True for the first one, on any replica, until the time given."""
        async with self._database.begin() as connection:
            new = insert_into(connection, spent).values(key=digest(key), until=until)
            ended = spent.c.until <= self._clock()
            first = new.on_conflict_do_update(
                index_elements=[spent.c.key], set_={"until": until}, where=ended
            ).returning(spent.c.key)
            return (await connection.execute(first)).first() is not None


class SqlRevocations:
    """``auth.revocations.RevocationStore`` in the database."""

    def __init__(self, database: Reached, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    async def append(self, subjects: Sequence[str]) -> None:
        """Note that what carries these tags (``Identity.tags``) must be looked up again."""
        now = self._clock()
        async with self._database.begin() as connection:
            # One at a time, numbers become visible in their order. Else a reader who has seen a
            # number would never see a lower one that was committed after it.
            await exclusive(connection, lock_number("", "porch_revocations"))
            rows = [{"subject": subject, "at": now} for subject in subjects]
            if rows:
                await connection.execute(insert(revocations), rows)

    async def since(self, number: int) -> list[tuple[int, str]]:
        """The entries after a number, in order, as (number, subject)."""
        query = select(revocations.c.number, revocations.c.subject)
        query = query.where(revocations.c.number > number).order_by(revocations.c.number)
        async with self._database.connect() as connection:
            return [(row.number, row.subject) for row in await connection.execute(query)]

    async def latest(self) -> int:
        """The number of the newest entry, or 0."""
        async with self._database.connect() as connection:
            found = await connection.scalar(select(func.max(revocations.c.number)))
            return int(found or 0)
