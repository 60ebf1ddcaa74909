"""How the portal uses SQLite: settings of a connection, transactions, table changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.services.database.errors import without_values
from gateway.services.database.migrations import MigrationFailed

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

__all__ = ["Writers", "changing_tables", "opened", "reading", "writing"]

BUSY_TIMEOUT_MS = 10_000
"""Milliseconds that a writer waits for one of another process."""
MAX_CONNECTIONS = 15
"""Connections at most, each opened when the others are busy and kept then: opening one takes a
thread, and reads the schema. The one that was used last is used next, since it remembers pages."""
_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode=WAL",  # readers and the writer do not wait for each other
    "PRAGMA synchronous=NORMAL",  # safe with WAL: a power cut may undo, never break
    "PRAGMA foreign_keys=ON",
)


def opened(file: Path) -> AsyncEngine:
    """An engine for a database file, which is made when the first connection needs it."""
    from sqlalchemy import event
    from sqlalchemy.ext.asyncio import create_async_engine

    from gateway.services.database.sqlite_driver import connect

    engine = create_async_engine(
        f"sqlite+aiosqlite:///{file}",
        async_creator=partial(connect, file),
        hide_parameters=True,
        pool_size=MAX_CONNECTIONS,
        max_overflow=0,
        pool_use_lifo=True,
    )
    without_values(engine.sync_engine)

    @event.listens_for(engine.sync_engine, "connect")
    def settings(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where SQLAlchemy says, below
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
        if mode is not None:
            connection.exec_driver_sql(f"BEGIN {mode}")

    return engine


def reading(engine: AsyncEngine) -> AsyncEngine:
    """The same engine in autocommit mode."""
    return engine.execution_options(sqlite_begin=None)


class Writers:
    """The queue of this process's writers: one at a time, first come, first served.

    SQLite takes one writer at a time, and whoever waits in it asks again and again, in no order
    and with a connection in hand. Tasks wait here instead, before they take a connection.
    """

    def __init__(self) -> None:
        self._queues: dict[asyncio.AbstractEventLoop, _Queue] = {}

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for this task's turn, and have it for as long as the block lasts.

        Raises:
            RuntimeError: the task has its turn already, and would wait for itself.
        """
        queue = self._queue()
        task = asyncio.current_task()
        if queue.writer is task:
            raise RuntimeError(
                "This task has a transaction open already. Pass its connection on, rather than "
                "begin another one inside it."
            )
        async with queue.lock:
            queue.writer = task
            try:
                yield
            finally:
                queue.writer = None

    def _queue(self) -> _Queue:
        # A lock belongs to the loop on which somebody has waited for it, and one loop may follow
        # another (a test's, a command's).
        loop = asyncio.get_running_loop()
        if loop not in self._queues:
            self._queues = {each: q for each, q in self._queues.items() if not each.is_closed()}
            self._queues[loop] = _Queue()
        return self._queues[loop]


class _Queue:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.writer: asyncio.Task[Any] | None = None


@asynccontextmanager
async def writing(engine: AsyncEngine, writers: Writers) -> AsyncGenerator[AsyncConnection]:
    """A transaction that has the write lock from its beginning.

    One that reads first and then writes would fail, without waiting, when another process or
    task wrote in between.
    """
    async with writers.turn(), engine.connect() as connection:
        async with _immediate(connection):
            yield connection


@asynccontextmanager
async def changing_tables(engine: AsyncEngine, writers: Writers) -> AsyncGenerator[AsyncConnection]:
    """A writing transaction in which tables may be made anew.

    SQLite changes a column by copying its table and dropping the old one. With foreign keys on,
    that drop would delete the rows that refer to it; so they are off, and checked at the end.

    Raises:
        MigrationFailed: rows would refer to rows that are gone; nothing was changed.
    """
    async with writers.turn(), engine.connect() as connection:
        raw: Any = (await connection.get_raw_connection()).driver_connection
        await raw.execute("PRAGMA foreign_keys=OFF")  # has no effect inside a transaction
        try:
            async with _immediate(connection):
                yield connection
                check = await connection.exec_driver_sql("PRAGMA foreign_key_check")
                broken: Any = check.first()
                if broken is not None:
                    raise MigrationFailed(
                        f"A row of {broken[0]} would refer to a row of {broken[2]} that is gone."
                    )
        finally:
            await raw.execute("PRAGMA foreign_keys=ON")


@asynccontextmanager
async def _immediate(connection: AsyncConnection) -> AsyncGenerator[None]:
    await connection.execution_options(sqlite_begin="IMMEDIATE")
    async with connection.begin():
        yield
