"""One kept connection to a server for one credential: made once, whoever asks, and made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from gateway.contract import ToolFailed
from plugins.upstreams.credentials.credential import Credential
from plugins.upstreams.wire import (
    Connection,
    HeaderSource,
    NoCredential,
    SessionExpired,
    Unauthorized,
    WireError,
)

Connect = Callable[[HeaderSource], Awaitable[Connection]]
Ended = Callable[[WireError], None]
CLOSED = "The connection was closed meanwhile."


class _Attempt(NamedTuple):
    """A connection that is being made, and how often the credential was renewed before that."""

    task: asyncio.Task[Connection]
    renewals: int


class Link:
    """Hands out a connection, which all who ask at the same time wait for together.

    Args:
        holder: whose credential it carries.
        credential: gives the holder's headers.
        connect: makes one, whose requests have the headers that it is given a function for; what
            it raises, everybody who waits for it is told.
        ended: told why a connection ended by itself.
    """

    def __init__(self, holder: str, credential: Credential, connect: Connect, ended: Ended) -> None:
        self.holder = holder
        self._credential = credential
        self._renewals = 0
        self._connect = connect
        self._ended = ended
        self._connection: Connection | None = None
        self._attempt: _Attempt | None = None
        self._watching: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._over = False

    @property
    def is_closed(self) -> bool:
        """Whether the portal has closed it, so that what fails says nothing of the server."""
        return self._over

    async def get(self) -> Connection:
        """The open connection, or else a new one.

        Raises:
            WireError: there is none to be had.
        """
        while True:
            if self._connection is not None:
                return self._connection
            if self._over:
                raise SessionExpired(CLOSED)
            if self._attempt is None:
                making = asyncio.create_task(self._made())
                making.add_done_callback(_seen)
                self._attempt = _Attempt(making, self._renewals)
            attempt = self._attempt
            try:
                return await _outcome(attempt.task)
            except Unauthorized:
                if attempt.renewals == self._renewals:
                    raise
                # Else it began with a credential that has been renewed since.

    async def _made(self) -> Connection:
        try:
            connection = self._connection = await self._connect(self._headers)
        finally:
            self._attempt = None
        self._watching = asyncio.create_task(self._watch(connection))
        return connection

    async def _headers(self) -> Mapping[str, str]:
        """The holder's headers; what is heard behind calls goes on once there are some again."""
        try:
            return await self._credential.headers(self.holder)
        except ToolFailed as failed:
            raise NoCredential(failed.message) from failed

    async def refused(self, error: Unauthorized) -> bool:
        """The server has refused the holder's headers; whether others are worth a try now.

        Raises:
            ToolFailed: the holder has to connect anew, and how.
        """
        is_renewed = await self._credential.refused(self.holder, error)
        self._renewals += is_renewed
        return is_renewed

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
        _seen(closing)

    async def close(self) -> None:
        """Close what is open, and make nothing any more."""
        self._over = True
        for task in (self._attempt and self._attempt.task, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._connection is not None:
            self.lost(self._connection)
        if self._closing:
            await asyncio.wait(set(self._closing))


def _seen(task: asyncio.Task[Any]) -> None:
    """Take note of what a task has failed with, should nobody wait for it any more."""
    if not task.cancelled():
        task.exception()


async def _outcome(connecting: asyncio.Task[Connection]) -> Connection:
    """What an attempt ends with; who gives up waiting does not end it for the others."""
    task = asyncio.current_task()
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        if connecting.cancelled() and task is not None and not task.cancelling():
            raise SessionExpired(CLOSED) from None
        raise
