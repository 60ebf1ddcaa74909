"""The end of a portal behind a balancer, in steps, so that no call is lost.

A balancer needs a moment to see that a replica is not ready, and sends requests until then. One
without probes knows only that it cannot connect. And it keeps connections: one that the portal
ends takes a request with it that is on its way (RFC 9112, 9.5), which nobody repeats where it is a
POST. So the portal, once it is told to stop,

1. says "not ready" and goes on (``limits.drain``),
2. lets no new connection begin, and answers those that have begun,
3. closes the port: who connects now is refused, and goes to another replica,
4. ends each connection with its next answer, and waits for those that are idle to be ended by who
   keeps them (``limits.linger``),
5. and finishes the calls in flight (``limits.shutdown``).
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Protocol

from gateway.config.portal_keys import Limits
from gateway.observability.logs import get_logger

HANDSHAKE_SECONDS = 0.5
"""Seconds for connections that had begun when the port was about to close; under the second after
which TCP asks again (RFC 6298), so that who begins then is refused no later than that."""
_POLL_SECONDS = 0.05

log = get_logger(__name__)


class Port(Protocol):
    """A server, as far as it is stopped in steps."""

    def hold(self) -> None:
        """Let no new connection begin; those that have begun are accepted."""

    def leave(self) -> None:
        """Accept no more, and end each connection with its next answer."""

    def idle(self) -> int:
        """How many connections wait for a request."""

    def stop(self) -> None:
        """End, finishing calls in flight; the second time, without them."""


class Drain:
    """Stops a server in steps.

    Args:
        port: the server.
        limits: how long each step may take; a drain of 0 stops at once.
        unready: called first, so that ``/readyz`` says that nobody should send more.
    """

    def __init__(self, port: Port, limits: Limits, unready: Callable[[], None]) -> None:
        self._port = port
        self._seconds = limits.drain.total_seconds()
        self._linger = limits.linger.total_seconds()
        self._unready = unready
        self._steps: asyncio.Task[None] | None = None

    def follow_signals(self) -> None:
        """Stop in steps at SIGTERM; at SIGINT, a person's, or a second signal, without them.

        SIGHUP asks several workers to begin again, and ends one process only where it means that
        a terminal is closed.
        """
        loop = asyncio.get_running_loop()
        acts = {signal.SIGTERM: self._terminated, signal.SIGINT: self.now}
        if sys.stdin is None or not sys.stdin.isatty():
            acts[signal.SIGHUP] = _not_reloaded
        for number, act in acts.items():
            with suppress(RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, act)

    def begin(self) -> None:
        """Stop in steps; asked for again, nothing changes."""
        if not self._seconds:
            self.now()
        else:
            self._follow(self._drain())

    def retire(self) -> None:
        """Leave a shared port to the others: accept no more, end kept connections, then stop."""
        self._follow(self._end_connections())

    def now(self) -> None:
        """Stop at once, finishing calls in flight; asked for again, without them."""
        if self._steps is not None:
            self._steps.cancel()
        self._port.stop()

    def _terminated(self) -> None:
        if self._steps is None:
            self.begin()
        else:
            self.now()

    def _follow(self, steps: Coroutine[Any, Any, None]) -> None:
        if self._steps is None:
            self._steps = asyncio.create_task(steps)
        else:
            steps.close()

    async def _drain(self) -> None:
        log.info("draining", seconds=self._seconds)
        self._unready()
        await asyncio.sleep(self._seconds)
        self._port.hold()
        await asyncio.sleep(HANDSHAKE_SECONDS)
        await self._end_connections()

    async def _end_connections(self) -> None:
        self._port.leave()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._linger):
                while self._port.idle():  # noqa: ASYNC110  (uvicorn tells nobody)
                    await asyncio.sleep(_POLL_SECONDS)
        self._port.stop()


def _not_reloaded() -> None:
    log.warning("not_reloaded", reason="one process takes a restart; workers begin again in turn")
