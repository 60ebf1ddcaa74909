"""Streamable HTTP: each message a POST, answered by JSON or by events."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from gateway.toolkit.retry import backoff
from plugins.upstreams.wire.bodies import body_of, messages_of
from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.calls import Calls
from plugins.upstreams.wire.closure import Closure
from plugins.upstreams.wire.connection import GAP, NO_HEADERS, TransportName
from plugins.upstreams.wire.errors import (
    CLOSED,
    ConnectionLost,
    HttpRefused,
    NotMcp,
    RpcError,
    SessionExpired,
    TooLarge,
    Unreachable,
    WireError,
)
from plugins.upstreams.wire.events import EventReader
from plugins.upstreams.wire.http import (
    EVENTS,
    JSON,
    Channel,
    kind_of,
    refused,
)
from plugins.upstreams.wire.messages import Message, decode, encode, is_response, result_of
from plugins.upstreams.wire.share import Share

if TYPE_CHECKING:
    import aiohttp

FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 60.0
"""Seconds before a broken stream is opened again: the first time, and at most."""
LEAST_S = 0.1
"""Seconds before that at least, whatever the server says."""
ERROR_BYTES = 64 * 1024
"""Bytes of an error's body that are read."""
_SESSION = "mcp-session-id"
_SENT = {"content-type": JSON, "accept": f"{JSON}, {EVENTS}"}
_HEARD = {"accept": EVENTS}
_MAX_SESSION_ID = 1024


class StreamableHttp:
    """The transport of Streamable HTTP.

    Args:
        channel: carries its requests.
    """

    name: TransportName = "streamable-http"

    def __init__(self, channel: Channel) -> None:
        self.cancels_by_closing = False
        self._channel = channel
        self._limits = channel.limits
        self._version: dict[str, str] = {}
        self._session: dict[str, str] = {}
        self._closure = Closure()
        self._calls: Calls

    async def attach(self, calls: Calls) -> None:
        """Begin; a connection is made when something is sent."""
        self._calls = calls

    def agreed(self, version: str, *, modern: bool) -> None:
        """Name the revision in every request from now on."""
        self.cancels_by_closing = modern
        # A modern request says it itself, together with what else mirrors its body.
        self._version = {} if modern else {"mcp-protocol-version": version}

    def open(
        self, message: Message, call: Call, headers: Mapping[str, str], *, bounded: bool = True
    ) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """Send a request, and give what comes for it."""
        return self._open(message, headers, bounded)

    @asynccontextmanager
    async def _open(
        self, message: Message, headers: Mapping[str, str], bounded: bool
    ) -> AsyncGenerator[AsyncIterator[Message]]:
        self._closure.check()
        sent = {**_SENT, **self._version, **self._session, **headers}
        async with self._channel.ask("POST", sent, encode(message)) as response:
            if response.status >= 400:
                await self._refuse(response, message["id"])
            if message["method"] == "initialize":
                self._begin_session(response.headers.get(_SESSION))
            async with aclosing(self._messages(response, message["id"], bounded)) as messages:
                yield messages

    async def _messages(
        self, response: aiohttp.ClientResponse, request_id: int, bounded: bool
    ) -> AsyncGenerator[Message]:
        kind = kind_of(response)
        if kind == JSON:
            yield decode(await body_of(response, self._limits.message_bytes))
            raise NotMcp("The server answered with an id that is not the request's.")
        if kind != EVENTS:
            what = kind or "nothing" if response.status == 200 else f"HTTP {response.status}"
            raise NotMcp(f"The server answered a request with {what} instead of JSON or events.")
        reader = EventReader(self._limits.message_bytes)
        limits = self._limits if bounded else None
        try:
            async with aclosing(messages_of(response, reader, limits)) as messages:
                async for message in messages:
                    yield message
        except ConnectionLost:
            if reader.last_id is None or self._closure.over:
                raise
        async with aclosing(self._resumed(reader)) as messages:
            async for message in messages:
                yield message

    async def _resumed(self, reader: EventReader) -> AsyncGenerator[Message]:
        """What is left of a broken reply, where the server numbers its events (SEP-1699)."""
        pauses = backoff(FIRST_PAUSE_S, MAX_PAUSE_S)
        left = self._limits.resumes
        while left and not self._closure.over and (last := reader.last_id) is not None:
            pause = next(pauses)
            await asyncio.sleep(pause if reader.retry_s is None else max(reader.retry_s, LEAST_S))
            reader.restart()
            with suppress(ConnectionLost, Unreachable):
                async with self._stream(last) as response:
                    async with aclosing(messages_of(response, reader, self._limits)) as messages:
                        async for message in messages:
                            yield message
            left = self._limits.resumes if reader.last_id != last else left - 1
        raise ConnectionLost("The server broke off before it had answered.")

    @asynccontextmanager
    async def _stream(self, last_id: str | None) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open a stream of events by GET, from an event on."""
        since = {} if last_id is None else {"last-event-id": last_id}
        headers = {**_HEARD, **self._version, **self._session, **since}
        async with self._channel.ask("GET", headers) as response:
            if response.status >= 400:
                await self._refuse(response, None)
            if kind_of(response) != EVENTS:
                raise NotMcp("The server answered a GET with something else than events.")
            yield response

    async def send(self, message: Message, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Send what nothing answers."""
        self._closure.check()
        sent = {**_SENT, **self._version, **self._session, **headers}
        async with self._channel.ask("POST", sent, encode(message)) as response:
            if response.status >= 400:
                await self._refuse(response, None)

    async def _refuse(self, response: aiohttp.ClientResponse, request_id: int | None) -> NoReturn:
        """Raise what a status of 400 and more means."""
        error: WireError = refused(response)
        if kind_of(response) == JSON:
            with suppress(NotMcp, TooLarge):
                message = decode(await body_of(response, ERROR_BYTES))
                if is_response(message) and message.get("id") in (request_id, None):
                    error = _error_of(message)
        # Some servers answer 400 where the specification wants 404, and say what it is about.
        about_session = response.status == 400 and "session" in error.message.lower()
        if self._session and (response.status == 404 or about_session):
            error = SessionExpired("The server has ended the session.")
            self._closure.set(error)
        raise error

    def _begin_session(self, session: str | None) -> None:
        if session is None:
            return
        if not (session.isascii() and session.isprintable() and len(session) <= _MAX_SESSION_ID):
            raise NotMcp("The server's session id has characters that it cannot have.")
        self._session = {_SESSION: session}

    async def listen(self, opened: asyncio.Event) -> None:
        """Keep the stream open that a legacy server may offer, for what belongs to no request."""
        reader = EventReader(self._limits.message_bytes)
        pauses, share = backoff(FIRST_PAUSE_S, MAX_PAUSE_S), Share()
        for times in itertools.count():
            last = reader.last_id
            try:
                async with self._stream(last) as response:
                    opened.set()
                    if times and last is None and self._calls.notifier is not None:
                        self._calls.notifier.notify(GAP, {})
                    async for message in messages_of(response, reader):
                        pauses = backoff(FIRST_PAUSE_S, MAX_PAUSE_S)
                        begun = perf_counter()
                        await self._calls.hear(message, self._calls.of_message(message))
                        await share.rest(begun)
            except HttpRefused as error:
                if error.is_final:
                    return  # 405: there is none
            except (SessionExpired, NotMcp, RpcError):
                return
            except WireError:
                pass  # it is opened again
            reader.restart()
            await asyncio.sleep(max(reader.retry_s or 0.0, next(pauses)))

    async def ended(self) -> WireError:
        """Wait until the session is over."""
        return await self._closure.wait()

    async def close(self) -> None:
        """End the session, and close every connection."""
        if self._session and not self._closure.over:
            # Also who has no credential any more, which is then refused, leaves nothing open here.
            with suppress(Exception):
                async with asyncio.timeout(self._limits.closing_s):
                    headers = {**self._version, **self._session}
                    async with self._channel.ask("DELETE", headers):
                        pass
        self._closure.set(ConnectionLost(CLOSED))
        await self._channel.close()


def _error_of(message: Message) -> WireError:
    try:
        result_of(message)
    except WireError as error:
        return error
    return NotMcp("The server answered an HTTP error with a result.")
