"""The audit log: who called what, at which tier, how it ended; never with what arguments.

A call only appends to a queue in memory; a background task writes batches. The queue is
bounded: while the database is out of reach records wait, and past the bound they are counted
as dropped, which the health board shows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.observability.audit_record import BATCH_RECORDS, AuditRecord
from gateway.observability.logs import get_logger

if TYPE_CHECKING:
    from sqlalchemy import Dialect
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database
    from gateway.observability.audit_reader import Where

__all__ = ["MIGRATIONS", "AuditLog", "AuditRecord", "insert_records"]

MIGRATIONS = Path(__file__).parents[1] / "migrations"
"""The gateway's own Alembic migrations; the audit table is made by them."""

WRITE_INTERVAL_SECONDS = 0.5
"""Seconds between two writes, where no batch fills up sooner."""

_MAX_TEXT_CHARACTERS = 200
_PURGE_INTERVAL_SECONDS = 24 * 3600.0
_PURGE_BATCH_ROWS = 10_000
_CLOSE_TIMEOUT_SECONDS = 5.0
_MAX_RETRY_SECONDS = 30.0

log = get_logger(__name__)


class AuditLog:
    """Writes and reads audit records.

    Args:
        database: where they are kept; migrated with :data:`MIGRATIONS` beforehand.
        retention: how long a record is kept, or None for ever.
        capacity: how many records may wait in memory.

    Attributes:
        dropped: how many records were lost because the queue was full.
    """

    def __init__(
        self,
        database: Database,
        retention: timedelta | None = timedelta(days=90),
        capacity: int = 50_000,
    ) -> None:
        self.dropped = 0
        self._database = database
        self._retention = retention
        self._capacity = capacity
        self._waiting: deque[AuditRecord] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._problem: str | None = None

    def write(self, record: AuditRecord) -> None:
        """Queue one record; never waits and never fails. Called on the event loop's thread."""
        waiting = self._waiting
        if len(waiting) >= self._capacity:
            self.dropped += 1
            return
        waiting.append(record)
        if len(waiting) == BATCH_RECORDS:
            self._wake.set()

    @property
    def waiting(self) -> int:
        """How many records are not in the database yet."""
        return len(self._waiting)

    def notices(self) -> list[str]:
        """Notices for admins about the log, one sentence each."""
        found = []
        if self._problem:
            found.append(
                f"Audit records cannot be written ({self._problem}); {self.waiting} wait in "
                "memory. Check the database."
            )
        if self.dropped:
            found.append(
                f"{self.dropped} audit records were dropped since the start, because the "
                "database could not take them in time."
            )
        return found

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Write and purge in the background while the block runs; its end writes what is left."""
        self._closing = False
        writing = asyncio.create_task(self._write_batches())
        purging = asyncio.create_task(self._purge_daily())
        try:
            yield
        finally:
            purging.cancel()
            self._closing = True
            self._wake.set()
            await asyncio.wait([writing, purging], timeout=_CLOSE_TIMEOUT_SECONDS)
            writing.cancel()
            await asyncio.gather(writing, purging, return_exceptions=True)
            if self._waiting:
                log.error("audit_records_lost", count=self.waiting, problem=self._problem)

    async def _write_batches(self) -> None:
        pause = WRITE_INTERVAL_SECONDS
        while self._waiting or not self._closing:
            await self._sleep(pause)
            well = await self._flush()
            pause = (
                WRITE_INTERVAL_SECONDS
                if well or self._closing
                else min(pause * 2, _MAX_RETRY_SECONDS)
            )

    async def _sleep(self, seconds: float) -> None:
        """Wait for a full batch or the end, or for the interval to pass."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    async def _flush(self) -> bool:
        """Write all that waits, a batch at a time; a record leaves the queue once it is stored."""
        while batch := list(islice(self._waiting, BATCH_RECORDS)):
            try:
                async with self._database.begin() as connection:
                    await insert_records(connection, batch)
            except Exception as error:
                self._failed(error)
                return False
            for _ in batch:
                self._waiting.popleft()
        if self._problem:
            log.info("audit_recovered")
            self._problem = None
        return True

    def _failed(self, error: Exception) -> None:
        problem = type(error).__name__
        if self._problem != problem:
            log.error("audit_not_written", waiting=self.waiting, error=str(error))
        self._problem = problem

    async def _purge_daily(self) -> None:
        while self._retention is not None:
            try:
                await self.purge(datetime.now(UTC) - self._retention)
            except Exception as error:
                log.error("audit_not_purged", error=str(error))
            await asyncio.sleep(_PURGE_INTERVAL_SECONDS)

    async def purge(self, before: datetime) -> int:
        """Delete the records from before a time, some at a time so that writers get between.

        Returns:
            How many were deleted.
        """
        from sqlalchemy import delete, select

        table = _table()
        old = select(table.c.id).where(table.c.at < before).limit(_PURGE_BATCH_ROWS)
        deleted = 0
        while True:
            async with self._database.begin() as connection:
                result = await connection.execute(delete(table).where(table.c.id.in_(old)))
            deleted += result.rowcount
            if result.rowcount < _PURGE_BATCH_ROWS:
                return deleted

    async def read(self, matching: Where | None = None, limit: int = 100) -> list[AuditRecord]:
        """The stored records that match, the newest first.

        Args:
            matching: what they have in common; by default nothing.
            limit: how many at most.
        """
        from gateway.observability.audit_reader import AuditReader

        return await AuditReader(self._database).newest(matching or {}, limit)


def _table() -> Any:
    from gateway.observability.audit_table import audit

    return audit


async def insert_records(connection: AsyncConnection, batch: Sequence[AuditRecord]) -> None:
    """Insert records in a transaction, such as that of what they tell of."""
    # As a statement of the driver's: SQLAlchemy would look at each value of each record anew.
    statement, stored = _statement(connection.dialect)
    rows: list[tuple[Any, ...]] = [
        (stored(at), *map(_clean, texts), milliseconds, size)
        for at, *texts, milliseconds, size in batch
    ]
    await connection.exec_driver_sql(statement, rows)


@cache
def _statement(dialect: Dialect) -> tuple[str, Callable[[datetime], Any]]:
    """The insertion as a driver takes it, with the values in a record's order; how it has times."""
    table = _table()
    insert = table.insert().compile(dialect=dialect, column_keys=AuditRecord._fields)
    return str(insert), table.c.at.type.dialect_impl(dialect).bind_processor(dialect)


def _clean(text: str | None) -> str | None:
    """A text that every database takes: short, with no NUL and no lone surrogate."""
    if text is None or (text.isascii() and len(text) <= _MAX_TEXT_CHARACTERS and "\0" not in text):
        return text
    return text[:_MAX_TEXT_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", "?")
