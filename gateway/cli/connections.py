"""Connections that send no headers: they end after a while, and there are only so many.

uvicorn ends a connection that is idle after an answer (``timeout_keep_alive``) and bounds their
number (``limit_concurrency``); before the headers of a request are there, it waits for ever.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class WaitingConnections:
    """Connections whose request's headers are not there yet, the oldest first.

    Args:
        seconds: how long the headers may take.
        most: connections that may wait; the oldest ends where there is one more.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds = seconds
        self._most = most
        self._waiting: dict[asyncio.BaseTransport, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, connection: asyncio.BaseTransport) -> None:
        """A connection waits for headers from now on."""
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self._seconds
        if len(self._waiting) > self._most:
            self._end(next(iter(self._waiting)))
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._end_late)

    def done(self, connection: asyncio.BaseTransport) -> None:
        """Its headers are there, or it is gone."""
        self._waiting.pop(connection, None)

    def _end(self, connection: asyncio.BaseTransport) -> None:
        del self._waiting[connection]
        connection.close()

    def _end_late(self) -> None:
        # All wait equally long, so the oldest are due first, and one timer is enough.
        loop, self._timer = asyncio.get_running_loop(), None
        for connection, until in list(self._waiting.items()):
            if until > loop.time():
                self._timer = loop.call_at(until, self._end_late)
                break
            self._end(connection)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, whose connections do not wait for headers for ever.

    Attributes:
        waiting: those that wait; of the server's own class (:func:`bounded_protocol`).
    """

    waiting: ClassVar[WaitingConnections]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection is there, and has sent nothing yet."""
        super().connection_made(transport)
        self.waiting.begin(transport)

    def on_message_begin(self) -> None:
        """The first byte of a request is there; of the first one, it is waited for already."""
        super().on_message_begin()
        if self.cycle is not None:
            self.waiting.begin(self.transport)

    def on_headers_complete(self) -> None:
        """The headers are there."""
        self.waiting.done(self.transport)
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self.waiting.done(self.transport)
        super().connection_lost(exc)


def is_idle(connection: asyncio.BaseProtocol) -> bool:
    """Whether a connection waits for a request, its first one or another."""
    if not isinstance(connection, HttpToolsProtocol):
        return False  # a WebSocket
    return connection.cycle is None or connection.cycle.response_complete


def bounded_protocol(seconds: float, most: int) -> type[Any]:
    """A protocol class for one server; arguments as of :class:`WaitingConnections`."""
    return type(
        "ServersProtocol", (BoundedProtocol,), {"waiting": WaitingConnections(seconds, most)}
    )


def allow_open_files(wanted: int) -> None:
    """Raise the soft limit of open files, which many systems set to 1024, as far as may be.

    Args:
        wanted: how many the process may need; each connection is one.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    may = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < may:
        resource.setrlimit(resource.RLIMIT_NOFILE, (may, hard))
