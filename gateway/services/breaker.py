"""A circuit breaker: a server that does not answer costs one bounded wait, and then nothing.

Whoever asks while it is away is told so at once. Beside them the breaker tries, again and again,
whether it is back; no call waits for that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from gateway.observability.logs import get_logger
from gateway.services.patience import patience
from gateway.toolkit.background import cancel, start

__all__ = ["Breaker", "Server"]

RETRY_INTERVAL_SECONDS = 1.0
"""Seconds between two attempts to reach a server that is away."""

_WORDS = {"unexpected connection_lost() call": "it ended the connection"}
"""What drivers say, and what they mean by it."""

log = get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """A server, as its breaker sees it.

    Attributes:
        name: how the log calls it.
        probe: asks it for nothing; raises where it is away.
        errors: what says that it is away, rather than that a question was wrong.
        unavailable: makes the error that callers get, from the reason.
        timeout_seconds: how long it has for an answer, as :func:`patience` counts it.
        meanwhile: for admins, what is different while it is away.
    """

    name: str
    probe: Callable[[], Awaitable[object]]
    errors: tuple[type[Exception], ...]
    unavailable: Callable[[str], Exception]
    timeout_seconds: float
    meanwhile: str


class Breaker:
    """Asks a server as long as it answers.

    Args:
        server: what is asked.
        back: called when it answers again, before anybody else asks it.
    """

    def __init__(self, server: Server, back: Callable[[], Awaitable[object]] | None = None) -> None:
        self._server = server
        self._errors: tuple[type[Exception], ...] = (TimeoutError, *server.errors)
        self._back = back
        self._why = ""
        self._since = 0.0
        self._trying: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server is away, so that nobody asks it."""
        return bool(self._why)

    async def ask(self, question: Callable[[], Awaitable[T]]) -> T:
        """What the server answers.

        Raises:
            Exception: what ``Server.unavailable`` makes: it does not answer, or did not of late.
        """
        self.check()
        try:
            async with patience(self._server.timeout_seconds):
                return await question()
        except self._errors as error:
            raise self.failed(error) from error

    def check(self) -> None:
        """Go on where the server answered of late.

        Raises:
            Exception: what ``Server.unavailable`` makes.
        """
        if self._why:
            raise self._server.unavailable(self._why)

    def failed(self, error: Exception) -> Exception:
        """Take the server for away from now on, because of an error; the error for callers."""
        why = (
            _WORDS.get(str(error), str(error))
            or f"no answer within {self._server.timeout_seconds:g} s"
        )
        if not self._why:
            self._why, self._since = why, time.monotonic()
            log.warning("server_away", server=self._server.name, reason=why)
            self._trying = start(self._try())
        return self._server.unavailable(why)

    def notices(self) -> Iterator[str]:
        """What an admin should look at: for how long the server has been away, and why."""
        if self._why:
            away = time.monotonic() - self._since
            yield (
                f"{self._server.name} has not answered for {away:.0f} s ({self._why}). Check that "
                f"it is up and can be reached; {self._server.meanwhile}"
            )

    async def close(self) -> None:
        """Try no longer."""
        if self._trying is not None:
            await cancel(self._trying)

    async def _try(self) -> None:
        while self._why:
            await asyncio.sleep(RETRY_INTERVAL_SECONDS)
            try:
                async with patience(self._server.timeout_seconds):
                    await self._server.probe()
                if self._back is not None:
                    await self._back()
            except Exception as error:  # also one that nobody foresaw: it must not end the trying
                self._still_away(error)
                continue
            self._why = ""
            log.info(
                "server_back",
                server=self._server.name,
                seconds=round(time.monotonic() - self._since, 1),
            )

    def _still_away(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        if isinstance(error, self._errors):
            log.debug("server_still_away", server=self._server.name, reason=reason)
        elif reason != self._why:
            self._why = reason
            log.warning("server_still_away", server=self._server.name, exc_info=error)
