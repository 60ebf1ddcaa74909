"""Sees that PostgreSQL does not answer, and then lets nobody wait for it.

A connection that was refused is seen by whoever asked for it; one that takes questions and says
nothing, by a question each second over a connection of its own. From then on nobody connects, who
waits for an answer gets an error, and the guard alone tries whether the server is back.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from gateway.contract.backend_errors import DatabaseAway
from gateway.services.breaker import Breaker, Server
from gateway.services.patience import patience
from gateway.toolkit.background import cancel

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

__all__ = ["CONNECT_TIMEOUT_SECONDS", "DatabaseGuard"]

CONNECT_TIMEOUT_SECONDS = 3.0
"""Seconds that the server has to accept a connection."""
ASK_INTERVAL_SECONDS = 1.0
"""Seconds between two questions whether it answers."""
ANSWER_TIMEOUT_SECONDS = 2.0
"""Seconds that it has for such an answer; after two misses it is away."""
IDLE_TRANSACTION_SECONDS = 15.0
"""Seconds without a word after which the server gives up a transaction. A process that was paused,
or whose machine is gone, must not hold its locks against all others; jobs wait as long for it."""


class DatabaseGuard:
    """Stands before an engine's connections.

    Args:
        engine: of PostgreSQL, through asyncpg.
        url: the same database, as asyncpg takes it.
        place: where it is, for the log; without a password.
    """

    def __init__(self, engine: AsyncEngine, url: str, place: str) -> None:
        from sqlalchemy import event

        self._url = url
        self._connections: WeakSet[Any] = WeakSet()
        self._own: Any = None
        self._watching: asyncio.Task[None] | None = None
        server = Server(
            name=f"PostgreSQL at {place}",
            probe=self._ask,
            errors=_errors(),
            unavailable=DatabaseAway,
            timeout_seconds=2 * ANSWER_TIMEOUT_SECONDS,
            meanwhile="what needs it is refused meanwhile.",
        )
        self.breaker = Breaker(server)
        event.listen(engine.sync_engine, "do_connect", self._connect)
        event.listen(engine.sync_engine, "connect", self._connected)

    def watch(self) -> None:
        """Ask from now on whether the server answers."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Ask no longer."""
        if self._watching is not None:
            await cancel(self._watching)
            self._watching = None
        await self.breaker.close()
        self._hang_up()

    def _connect(self, dialect: Any, _record: Any, args: Any, settings: Any) -> Any:
        self.breaker.check()
        try:
            return dialect.connect(*args, **settings)
        except OSError as error:  # refused, unreachable, or no answer in time
            raise self.breaker.failed(error) from error

    def _connected(self, connection: Any, record: Any) -> None:
        self._connections.add(record.driver_connection)
        # Asked for rather than told on connecting: poolers know few such words there.
        milliseconds = round(IDLE_TRANSACTION_SECONDS * 1000)
        cursor = connection.cursor()
        cursor.execute(f"SET idle_in_transaction_session_timeout = {milliseconds}")
        cursor.close()
        connection.commit()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(ASK_INTERVAL_SECONDS)
            if self.breaker.is_open:
                continue
            missed = await self._missed() and await self._missed()
            if missed and not self.breaker.is_open:
                self.breaker.failed(missed)
                for connection in list(self._connections):
                    connection.terminate()  # whoever waits for an answer on it waits no longer

    async def _missed(self) -> Exception | None:
        """Why the server gave no answer, or None where it did."""
        try:
            async with patience(ANSWER_TIMEOUT_SECONDS):
                await self._ask()
        except _errors() as error:
            return error if str(error) else TimeoutError("it does not answer")
        return None

    async def _ask(self) -> None:
        import asyncpg

        try:
            if self._own is None or self._own.is_closed():
                self._own = await asyncpg.connect(self._url)
            await self._own.fetchval("SELECT 1")
        except BaseException:
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        if self._own is not None:
            self._own.terminate()
            self._own = None


def _errors() -> tuple[type[Exception], ...]:
    import asyncpg

    # asyncpg calls it an internal error where a connection ends between a question and its answer.
    ours = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
    return (OSError, TimeoutError, *ours)
