"""Connections to SQLite on which a statement is one message to the connection's thread.

``aiosqlite`` runs each call of ``sqlite3`` in a thread and waits for it: for one ``SELECT`` it is
asked to make a cursor, to execute, to fetch and to close. The messages cost more than SQLite's own
work. Here the thread does the four at once. Imported late, for ``aiosqlite``.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any
from weakref import WeakSet

import aiosqlite

__all__ = ["Connection", "connect", "gone"]

THREAD_TIMEOUT_SECONDS = 5.0
"""Seconds that the threads of closed connections have to end."""

_ending: WeakSet[Thread] = WeakSet()
"""Threads that are ending; they may still have a result for the event loop."""


async def connect(file: Path) -> Connection:
    """Open a database file, for SQLAlchemy's ``async_creator``."""
    # Only the connection's own thread works with it; its state is asked for from elsewhere.
    connection = Connection(lambda: sqlite3.connect(file, check_same_thread=False), 64)
    connection._thread.daemon = True  # as SQLAlchemy has it: one left open keeps no process alive
    await connection
    return connection


async def gone() -> None:
    """Wait until the threads of closed connections are gone.

    Where the task that opened one was cancelled, nobody else waits for its thread, which must not
    find the event loop closed.
    """
    until = time.monotonic() + THREAD_TIMEOUT_SECONDS
    for thread in [each for each in _ending if each.is_alive()]:
        await asyncio.to_thread(thread.join, max(until - time.monotonic(), 0))


class Connection(aiosqlite.Connection):
    """A connection whose cursors hold all rows of their statement."""

    _settled = True
    """Whether the thread has finished all its work."""

    def cursor(self) -> Cursor:  # type: ignore[override]
        """A cursor; it costs no message."""
        return Cursor(self)

    async def run(self, work: Callable[[sqlite3.Connection], Any]) -> Any:
        """The result of a function of the connection, run in its thread."""
        self._settled = False
        try:
            given = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        except Exception:  # not where this task is cancelled: the thread goes on
            self._settled = True
            raise
        self._settled = True
        return given

    def stop(self) -> Any:
        """Tell the thread to end, once.

        It reads no second message, so whoever waited for the answer to one would wait for ever:
        a task, say, that closes the connection while another one gives it up.
        """
        if self._thread in _ending:
            return None
        _ending.add(self._thread)
        return super().stop()

    async def rollback(self) -> None:
        """Give up the transaction; there is no message where there is none."""
        if not self._settled or self._conn.in_transaction:
            await super().rollback()
            self._settled = True


class Cursor:
    """One statement and its rows, as much of a cursor as SQLAlchemy asks for."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: deque[Any] = deque()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Cursor:
        return self

    async def execute(self, statement: str, values: Any = ()) -> Cursor:
        """Run a statement, and fetch what it gives."""
        await self._connection.run(
            lambda connection: self._run(connection.execute, statement, values)
        )
        return self

    async def executemany(self, statement: str, values: Any) -> Cursor:
        """Run a statement with each of several sets of values."""
        await self._connection.run(
            lambda connection: self._run(connection.executemany, statement, values)
        )
        return self

    def _run(self, execute: Callable[..., sqlite3.Cursor], statement: str, values: Any) -> None:
        cursor = execute(statement, values)
        try:
            self.description = cursor.description
            self._rows = deque(cursor.fetchall() if cursor.description else ())
            self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()

    async def fetchone(self) -> Any:
        """The next row, or None."""
        return self._rows.popleft() if self._rows else None

    async def fetchmany(self, size: int | None = None) -> Sequence[Any]:
        """So many of the next rows."""
        most = min(size or self.arraysize, len(self._rows))
        return [self._rows.popleft() for _ in range(most)]

    async def fetchall(self) -> Sequence[Any]:
        """All rows that are left."""
        rows = list(self._rows)
        self._rows.clear()
        return rows

    async def close(self) -> None:
        """Let the rows go."""
        self._rows.clear()
