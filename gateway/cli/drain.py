"""The end of a portal behind a balancer: not ready, then no kept connections, then gone.

A balancer needs a moment to see that a replica is not ready, and sends requests until then. It
keeps connections, and one that the portal closes takes a request with it that is on its way. So
both are given their time before the port is closed.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gateway.observability.logs import get_logger

CLOSING_SECONDS = 1.0
"""Seconds for which every answer ends its connection, before the port is closed."""

log = get_logger(__name__)


class Drain:
    """Stops a server in steps, and is the application that it serves.

    Args:
        app: what lies behind.
        seconds: how long requests are taken after SIGTERM; 0 stops at once.
        unready: called first, so that ``/readyz`` says that nobody should send more.
        stop: ends the server, finishing calls in flight; called again, without them.
        leave: stops accepting on a port that other processes listen on too.
    """

    def __init__(
        self,
        app: Any,
        seconds: float,
        unready: Callable[[], None],
        stop: Callable[[], None],
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self._app = app
        self._seconds = seconds
        self._unready = unready
        self._stop = stop
        self._leave = leave
        self._begun = False
        self._closing = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection."""
        if not self._closing or scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_last(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive, send_last)

    def follow_signals(self) -> None:
        """Stop in steps at SIGTERM; at SIGINT, a person's, or a second signal, without them."""
        loop = asyncio.get_running_loop()
        for number, act in ((signal.SIGTERM, self._terminated), (signal.SIGINT, self._now)):
            with suppress(RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, act)

    def _terminated(self) -> None:
        if self._begun or not self._seconds:
            self._now()
            return
        self._begun = True
        log.info("draining", seconds=self._seconds)
        self._unready()
        loop = asyncio.get_running_loop()
        loop.call_later(self._seconds, self._close_kept)
        self._timer = loop.call_later(self._seconds + CLOSING_SECONDS, self._stop)

    def begin(self) -> None:
        """Stop in steps; asked for again, nothing changes."""
        if not self._begun:
            self._terminated()

    def retire(self) -> None:
        """Leave a shared port to the others: accept no more, end kept connections, then stop."""
        if self._begun:
            return
        self._begun = True
        self._leave()
        self._closing = True
        self._timer = asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._stop)

    def now(self) -> None:
        """Stop at once, finishing calls in flight; asked for again, without them."""
        self._now()

    def _close_kept(self) -> None:
        self._closing = True

    def _now(self) -> None:
        if self._begun:
            self._timer.cancel()
        self._stop()
