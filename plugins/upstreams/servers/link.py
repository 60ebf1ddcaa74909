"""One kept connection to a server for one credential: made once, whoever asks, and made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from plugins.upstreams.wire import Connection, SessionExpired, WireError

Connect = Callable[[], Awaitable[Connection]]
Ended = Callable[[WireError], None]


class Link:
    """Hands out a connection, which all who ask at the same time wait for together.

    Args:
        holder: whose credential it carries.
        connect: makes one; what it raises, everybody who waits for it is told.
        ended: told why a connection ended by itself.
    """

    def __init__(self, holder: str, connect: Connect, ended: Ended) -> None:
        self.holder = holder
        self._connect = connect
        self._ended = ended
        self._connection: Connection | None = None
        self._connecting: asyncio.Task[Connection] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._over = False

    async def get(self) -> Connection:
        """The open connection, or else a new one.

        Raises:
            WireError: there is none to be had.
        """
        if self._connection is not None:
            return self._connection
        if self._over:
            raise SessionExpired("The connection was closed meanwhile.")
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._made())
        connecting, task = self._connecting, asyncio.current_task()
        try:
            # Who gives up must not end it for the others.
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if connecting.cancelled() and task is not None and not task.cancelling():
                raise SessionExpired("The connection was closed meanwhile.") from None
            raise

    async def _made(self) -> Connection:
        try:
            connection = self._connection = await self._connect()
        finally:
            self._connecting = None
        self._watching = asyncio.create_task(self._watch(connection))
        return connection

    async def _watch(self, connection: Connection) -> None:
        reason = await connection.ended()
        if self._connection is connection:
            self.lost(connection)
            self._ended(reason)

    def lost(self, connection: Connection) -> None:
        """Use a connection no more; one that took its place already stays."""
        if self._connection is connection:
            self._connection = None
            closing = asyncio.create_task(connection.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closed)

    def _closed(self, closing: asyncio.Task[None]) -> None:
        self._closing.discard(closing)
        if not closing.cancelled():
            closing.exception()  # it is of no use any more, whatever became of it

    async def close(self) -> None:
        """Close what is open, and make nothing any more."""
        self._over = True
        for task in (self._connecting, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._connection is not None:
            self.lost(self._connection)
        if self._closing:
            await asyncio.wait(set(self._closing))
