"""HTTP connections that wait for nothing for ever, on uvicorn's protocol.

uvicorn bounds the number of connections (``limit_concurrency``) and ends one that is idle after an
answer (``timeout_keep_alive``), for which it sets a timer after each; here one timer is enough for
all. Before the headers of a request are there, it waits for ever: here a connection without them
ends after a while, and there are only so many.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from typing import Any, ClassVar
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.server.http_cycle import HttpCycle


class WaitingConnections:
    """Connections that wait for a request, or for its headers, the oldest first.

    Args:
        seconds: how long one may wait.
        most: connections that may wait; the oldest ends where there is one more.
    """

    def __init__(self, seconds: float, most: int = sys.maxsize) -> None:
        self._seconds = seconds
        self._most = most
        self._waiting: dict[asyncio.BaseTransport, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, connection: asyncio.BaseTransport) -> None:
        """A connection waits from now on."""
        loop = asyncio.get_running_loop()
        self._waiting[connection] = loop.time() + self._seconds
        if len(self._waiting) > self._most:
            self._end(next(iter(self._waiting)))
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._end_late)

    def done(self, connection: asyncio.BaseTransport) -> None:
        """What it waits for is there, or it is gone."""
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
    """uvicorn's HTTP protocol, whose connections wait for nothing for ever.

    Attributes:
        waiting: those that wait for headers; of the server's own class (:func:`bounded_protocol`).
        idle: those that wait for another request; likewise.
        is_ending: whether each connection ends with its next answer; likewise.
    """

    waiting: ClassVar[WaitingConnections]
    idle: ClassVar[WaitingConnections]
    is_ending: ClassVar[bool] = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection is there, and has sent nothing yet."""
        super().connection_made(transport)
        self.waiting.begin(transport)

    def data_received(self, data: bytes) -> None:
        """A part of a request is there, or all of it."""
        self.idle.done(self.transport)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """The first byte of a request is there; of the first one, it is waited for already."""
        super().on_message_begin()
        if self.cycle is not None:
            self.waiting.begin(self.transport)

    def on_headers_complete(self) -> None:
        """The headers are there: as uvicorn does it, with a cycle of our own."""
        self.waiting.done(self.transport)
        if self.parser.should_upgrade() and self._should_upgrade():
            return super().on_headers_complete()
        self._complete_scope()
        before = self.cycle
        self.cycle = HttpCycle(
            self.scope,
            self.transport,
            self.flow,
            self.logger,
            self.access_logger,
            self.access_log,
            self.server_state.default_headers,
            asyncio.Event(),
            self.expect_100_continue,
            keep_alive=self._stays(),
            on_response=self.on_response_complete,
        )
        app: Any = service_unavailable if self._is_full() else self.app
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, app)
        else:  # it was sent before the answer to the one before it
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, app))
        return None

    def on_response_complete(self) -> None:
        """A response is written: what was sent meanwhile is next, else the connection is idle."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.idle.begin(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self.waiting.done(self.transport)
        self.idle.done(self.transport)
        super().connection_lost(exc)

    def end_with_answer(self) -> None:
        """End with the answer that is under way, if there is one."""
        if self.cycle is not None:
            self.cycle.keep_alive = False
        for cycle, _ in self.pipeline:
            cycle.keep_alive = False

    def _complete_scope(self) -> None:
        parsed, version = httptools.parse_url(self.url), self.parser.get_http_version()
        path = parsed.path.decode("ascii")
        scope: Any = self.scope
        scope["method"] = self.parser.get_method().decode("ascii")
        scope["http_version"] = version
        scope["path"] = self.root_path + (unquote(path) if "%" in path else path)
        scope["raw_path"] = self.root_path.encode("ascii") + parsed.path
        scope["query_string"] = parsed.query or b""

    def _stays(self) -> bool:
        """Whether the connection stays after the answer."""
        kept: bool = self.parser.should_keep_alive()
        return kept and self.parser.get_http_version() != "1.0" and not self.is_ending

    def _is_full(self) -> bool:
        most = self.limit_concurrency
        full = most is not None and max(len(self.connections), len(self.tasks)) >= most
        if full:
            self.logger.warning("Exceeded concurrency limit.")
        return full


def is_idle(connection: asyncio.BaseProtocol) -> bool:
    """Whether a connection waits for a request, its first one or another."""
    if not isinstance(connection, HttpToolsProtocol):
        return False  # a WebSocket
    return connection.cycle is None or connection.cycle.response_complete


def bounded_protocol(headers: float, idle: float, most: int) -> type[BoundedProtocol]:
    """A protocol class for one server.

    Args:
        headers: seconds that the headers of a request may take.
        idle: seconds that a connection may wait for another request.
        most: connections that may wait for headers; the oldest ends where there is one more.
    """
    waiting = {"waiting": WaitingConnections(headers, most), "idle": WaitingConnections(idle)}
    return type("ServersProtocol", (BoundedProtocol,), waiting)


def allow_open_files(wanted: int) -> None:
    """Raise the soft limit of open files, which many systems set to 1024, as far as may be.

    Args:
        wanted: how many the process may need; each connection is one.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    may = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < may:
        resource.setrlimit(resource.RLIMIT_NOFILE, (may, hard))
