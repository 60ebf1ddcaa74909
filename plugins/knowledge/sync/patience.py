"""Asks GitHub again where it does not answer (knowledge server specification, section 5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from gateway.repositories import SourceFailed

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one request is made again, and when.

    Attributes:
        retries: how often after the first time.
        first: seconds before the first of them; every further one waits twice as long. Where
            GitHub says when to ask again, that counts instead, and this is the least.
        limit: seconds that one attempt may take.
        longest: the most seconds that GitHub's own Retry-After is followed.
        sleep: waits so many seconds.
    """

    retries: int = 10
    first: float = 1.0
    limit: float = 120.0
    longest: float = 3600.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def ask(self, request: Callable[[], Awaitable[Result]]) -> Result:
        """Make a request until it is answered, or the retries are spent.

        Raises:
            SourceFailed: it is refused for good, or GitHub does not answer.
        """
        for attempt in range(self.retries + 1):
            try:
                async with asyncio.timeout(self.limit):
                    return await request()
            except TimeoutError:
                what = f"GitHub did not answer within {self.limit:g} seconds."
                failure = SourceFailed("UPSTREAM_ERROR", what, transient=True)
            except SourceFailed as error:
                failure = error
            if attempt == self.retries or not _may_pass(failure):
                raise failure
            wait = self.first * 2.0**attempt
            if failure.retry_after is not None:
                wait = max(self.first, failure.retry_after)
            await self.sleep(min(wait, self.longest))
        raise AssertionError("unreachable")  # pragma: no cover


def _may_pass(failure: SourceFailed) -> bool:
    return failure.transient or failure.retry_after is not None
