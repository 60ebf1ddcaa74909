"""How often skills and agent profiles are read, and by about how many people; nobody is named.

What is kept is a number for each day and row. To count people, a process remembers for a day
which it has counted, by digests under a key that it makes each day and never writes down.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError

from gateway.contract import Caller, Database, ToolResult
from gateway.toolkit.background import background, every, to_its_end
from gateway.toolkit.sql import insert_into

MIGRATIONS = Path(__file__).with_name("migrations")
DAYS = 30
"""For how many days uses are told, and kept."""
FLUSH_SECONDS = 10.0
"""How often what was counted is written; a process that is killed loses as much."""
_MAX_REMEMBERED = 100_000
"""People and rows that a process tells apart in a day; beyond, people are counted no more."""

_USES = sa.Table(
    "skills_repo_uses",
    sa.MetaData(),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("row", sa.Text, primary_key=True),
    sa.Column("uses", sa.BigInteger),
    sa.Column("people", sa.BigInteger),
)

_Day = tuple[date, int, int]
"""A day, how often something was read on it, and by how many people."""
_Waiting = dict[str, tuple[Counter[date], Counter[date]]]
"""For each row, how often it was read on each day, and by how many people."""


class Uses(ToolResult):
    """How often something is read."""

    days: int = Field(description="Over how many days, today included.")
    times: int = Field(description="How often it was read, by tools, prompts, clients and pages.")
    people: int = Field(
        description="By how many people who had signed in, on the day when they were most."
    )


def today() -> date:
    """The day that it is, in UTC."""
    return datetime.now(UTC).date()


class UseLog:
    """Counts uses, and tells how many there were.

    Args:
        database: where the numbers are kept.
        now: says which day it is.
    """

    def __init__(self, database: Database, now: Callable[[], date] = today) -> None:
        self._database = database
        self._now = now
        self._day = now()
        self._key = secrets.token_bytes(16)
        self._counted: set[bytes] = set()
        self._turn = asyncio.Lock()
        self._waiting: _Waiting = {}
        self._written: dict[str, Sequence[_Day]] = {}

    def count(self, row: str, caller: Caller) -> None:
        """Count a use; returns at once.

        Args:
            row: what was read.
            caller: who read it; forgotten within the day.
        """
        day = self._today()
        times, people = self._waiting_of(row)
        times[day] += 1
        if caller.person is None or len(self._counted) >= _MAX_REMEMBERED:
            return
        said = f"{row}\0{caller.person}".encode()
        digest = hashlib.blake2b(said, digest_size=8, key=self._key).digest()
        if digest not in self._counted:
            self._counted.add(digest)
            people[day] += 1

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Write what was counted now and then for as long as the block lasts, and at its end."""
        async with background(every(FLUSH_SECONDS, self.flush, _not_kept)):
            yield
        with suppress(SQLAlchemyError, OSError):  # the database may have gone first
            await self.flush()

    async def flush(self) -> None:
        """Write what was counted, once, and remove what is too old; what fails waits on."""
        await to_its_end(self._flush())

    async def _flush(self) -> None:
        async with self._turn:  # nobody reads while a number is neither here nor there
            self._written.clear()
            waiting, self._waiting = self._waiting, {}
            try:
                await self._write(waiting)
            except BaseException:
                for row, counts in waiting.items():
                    for counted, more in zip(self._waiting_of(row), counts, strict=True):
                        counted.update(more)
                raise

    async def of(self, row: str) -> Uses:
        """How often something was read in the last days.

        What other processes counted is known :data:`FLUSH_SECONDS` after they wrote it.
        """
        since = self._now() - timedelta(days=DAYS - 1)
        async with self._turn:
            if row not in self._written:
                self._written[row] = await self._read(row)
            rows = self._written[row]
        waiting = self._waiting.get(row, (Counter(), Counter()))
        times, people = (counted.copy() for counted in waiting)
        for day, uses, some in rows:
            times[day] += uses
            people[day] += some
        return Uses(
            days=DAYS,
            times=sum(number for day, number in times.items() if day >= since),
            people=max((number for day, number in people.items() if day >= since), default=0),
        )

    async def _read(self, row: str) -> Sequence[_Day]:
        asked = sa.select(_USES.c.day, _USES.c.uses, _USES.c.people).where(_USES.c.row == row)
        async with self._database.read() as connection:
            found = await connection.execute(asked)
        return [(day, uses, people) for day, uses, people in found]

    def _waiting_of(self, row: str) -> tuple[Counter[date], Counter[date]]:
        return self._waiting.setdefault(row, (Counter(), Counter()))

    async def _write(self, waiting: _Waiting) -> None:
        if not waiting:
            return
        counted = [
            {"day": day, "row": row, "uses": uses, "people": people[day]}
            for row, (times, people) in waiting.items()
            for day, uses in times.items()
        ]
        async with self._database.begin() as connection:
            for each in counted:
                added = insert_into(connection, _USES).values(each)
                kept = added.on_conflict_do_update(
                    index_elements=["day", "row"],
                    set_={
                        "uses": _USES.c.uses + added.excluded.uses,
                        "people": _USES.c.people + added.excluded.people,
                    },
                )
                await connection.execute(kept)
            old = _USES.c.day < self._now() - timedelta(days=DAYS)
            await connection.execute(sa.delete(_USES).where(old))

    def _today(self) -> date:
        if (day := self._now()) != self._day:
            self._day, self._key = day, secrets.token_bytes(16)
            self._counted.clear()
        return day


def _not_kept(error: Exception) -> None:
    """What cannot be written now waits until it can; the database's own health says why."""
