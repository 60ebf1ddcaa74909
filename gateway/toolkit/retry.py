"""Trying again, with pauses that grow."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


def backoff(first_s: float, max_s: float) -> Iterator[float]:
    """Pauses without end, in seconds, each twice as long as the one before.

    Args:
        first_s: the first one.
        max_s: the longest.
    """
    pause = first_s
    while True:
        yield min(pause, max_s)
        pause = min(pause * 2, max_s)


def _tell_nobody(failure: Exception, wait_s: float) -> None:
    return


@dataclass(frozen=True, slots=True)
class Retry:
    """How often something is tried again, and when.

    Attributes:
        retries: how often, after the first time.
        first_s: seconds before the first of them; the pauses grow as :func:`backoff` has it.
        max_s: the longest pause, also where the other side asks for a longer one.
        timeout_s: seconds that one attempt may take.
        sleep: waits so many seconds; replaced in tests.
        told: hears of each failure after which it waits, and for how many seconds, before it does.
    """

    retries: int = 10
    first_s: float = 1.0
    max_s: float = 3600.0
    timeout_s: float = 120.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    told: Callable[[Exception, float], None] = _tell_nobody

    async def __call__(
        self, work: Callable[[], Awaitable[T]], after: Callable[[Exception], float | None]
    ) -> T:
        """Do something until it succeeds, or is not worth another try.

        Args:
            work: what is done, from its beginning each time.
            after: says of a failure, a ``TimeoutError`` among them, after how many seconds the
                other side wants to be asked again; None where it does not say. It raises the
                failure where another try is of no use.

        Raises:
            Exception: the last failure.
        """
        for left, pause in zip(
            range(self.retries, -1, -1), backoff(self.first_s, self.max_s), strict=False
        ):
            try:
                async with asyncio.timeout(self.timeout_s):
                    return await work()
            except Exception as error:
                asked = after(error)
                if not left:
                    raise
                wait = min(pause if asked is None else max(self.first_s, asked), self.max_s)
                self.told(error, wait)
            await self.sleep(wait)
        raise AssertionError("unreachable")  # pragma: no cover
