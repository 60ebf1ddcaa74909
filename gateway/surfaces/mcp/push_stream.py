"""A stream on which the portal speaks first: news to one client, for as long as it stays.

There may be ten thousand of them, so each is small: what waits, and one place to wake its task.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

from starlette.types import Receive, Send

from gateway.surfaces.http.open_streams import Why
from gateway.surfaces.mcp.sse import (
    MAX_WAITING_MESSAGES,
    PING,
    SSE_HEADERS,
    encoded,
    event,
    until_left,
)


class Feed:
    """News on their way to one client.

    It closes when the client leaves, and where it reads so slowly that
    :data:`MAX_WAITING_MESSAGES` wait: nothing more is taken then, and what waits is still sent.

    Attributes:
        closed: whether news are no longer taken.
    """

    __slots__ = ("_events", "_has_left", "_waiting", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._has_left = False
        self._events: deque[bytes] = deque()
        self._waiting: asyncio.Future[None] | None = None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a JSON-RPC message; dropped where the feed is closed."""
        self.put(event(encoded(message)))

    def put(self, written: bytes) -> None:
        """Queue events that are written out already; dropped where the feed is closed."""
        if self.closed:
            return
        if len(self._events) >= MAX_WAITING_MESSAGES:
            self.close()
            return
        self._events.append(written)
        self._wake()

    def close(self) -> None:
        """Take no more news."""
        self.closed = True
        self._wake()

    # What looks after open streams calls these (:class:`OpenStream`).

    def end(self, why: Why) -> None:
        """Close, so that the client connects anew as who it is by then."""
        self.close()

    def beat(self) -> None:
        """Give a sign of life, where nothing else is on its way."""
        if not self._events:
            self.put(PING)

    def allowed(self) -> bool:
        """Each news asks for itself."""
        return True

    async def run(self, receive: Receive, send: Send, last: bytes = b"") -> None:
        """Answer a request with the feed, until the client leaves or the feed is closed.

        Args:
            receive: the ASGI channel, its body already read.
            send: the ASGI channel.
            last: what ends the answer where the feed is closed.
        """
        leaving = asyncio.ensure_future(until_left(receive))
        leaving.add_done_callback(self._left)
        try:
            await send({"type": "http.response.start", "status": 200, "headers": [*SSE_HEADERS]})
            self._events.appendleft(PING)  # a client waits for the first bytes
            while not self._has_left:
                if self._events:
                    written = b"".join(self._events)
                    self._events.clear()
                    await _send(send, written)
                elif self.closed:
                    return await _send(send, last, more=False)
                else:
                    await self._news()
        finally:
            self.closed = True
            leaving.cancel()

    async def _news(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _left(self, leaving: asyncio.Future[None]) -> None:
        self._has_left = True
        self.close()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
