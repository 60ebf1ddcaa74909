"""How often a caller did something of late, counted by all replicas together where they can.

Replicas that share a Redis count together. While it does not answer, and without one, each
process counts for itself.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from auth import Caller
from gateway.contract.config_types import rate_of
from gateway.errors import PortalError
from gateway.limits.sliding_window import MemoryWindows, Rate, Taken, Windows
from gateway.observability.logs import get_logger
from gateway.observability.notices import COUNTED_ALONE
from gateway.services.cache.service import CacheUnavailable

ANSWER_TIMEOUT_SECONDS = 2.0
"""Seconds that a server which counts may take."""
RETRY_INTERVAL_SECONDS = 5.0
"""Seconds before a server that did not answer is asked again."""
TOLD_SECONDS = 60.0
"""Seconds for which an admin is told so: where nobody calls, nobody asks it again."""

log = get_logger(__name__)


class LimitReached(PortalError):
    """The caller has done something too often of late.

    Args:
        message: what, how often, and what to do.
        taken: the rate that says no, and how long to wait.
        details: JSON values that help.

    Attributes:
        taken: what was counted.
        headers: ``Retry-After``, which says so beside the answer.
    """

    code = "rate_limited"
    status = 429

    def __init__(self, message: str, taken: Taken, details: Mapping[str, Any]) -> None:
        super().__init__(message, details)
        self.taken = taken
        self.headers = ((b"retry-after", b"%d" % seconds_to_wait(taken)),)


def seconds_to_wait(taken: Taken) -> int:
    """Whole seconds until a caller that was told no may go on."""
    return max(1, math.ceil(taken.wait_seconds))


def details_of(taken: Taken) -> dict[str, Any]:
    """What a program wants to know of the rate that said no."""
    rate = taken.rate
    return {
        "retryAfterSeconds": seconds_to_wait(taken),
        "limit": rate.limit,
        "window": rate.seconds,
    }


def times(rate: Rate) -> str:
    """How often a rate lets one do something, in words."""
    return "once" if rate.limit == 1 else f"{rate.limit} times"


def named_rate(name: str, written: str) -> Rate | None:
    """A rate as ``portal.yaml`` writes it, under the name that it is counted by.

    Args:
        name: what is counted; no two rates of a portal share one.
        written: such as ``60 in 60s``; ``none`` is no rate.
    """
    parts = rate_of(written)
    return Rate(name, *parts) if parts else None


class RateCounter:
    """Counts callers under rates.

    Args:
        windows: where it is counted, by all replicas together or by this process alone.
        clock: seconds that never go back; replaced in tests.
    """

    def __init__(self, windows: Windows, clock: Callable[[], float] = time.monotonic) -> None:
        self._shared = None if isinstance(windows, MemoryWindows) else windows
        self._own = windows if isinstance(windows, MemoryWindows) else MemoryWindows(clock)
        self._clock = clock
        self._asked_again = 0.0
        self._away = ""

    async def take(self, caller: Caller, peer: str, rates: Sequence[Rate]) -> Taken:
        """Count once more under every rate, or under none where one says no.

        Args:
            caller: who.
            peer: where from, which is what anonymous callers are told apart by.
            rates: at least one.
        """
        who = caller.person or f"peer:{peer}"
        if self._shared is None or (self._away and self._clock() < self._asked_again):
            return self._own.take_now(who, rates)
        return await self._ask(self._shared, who, rates)

    def notices(self) -> Iterator[str]:
        """What an admin should look at: whether replicas count for themselves just now."""
        if self._away and self._clock() < self._asked_again + TOLD_SECONDS:
            yield f"{COUNTED_ALONE}, so that limits hold for each of them: {self._away}"

    async def _ask(self, shared: Windows, who: str, rates: Sequence[Rate]) -> Taken:
        if self._away:  # one call looks whether the server is back, and the others do not wait
            self._asked_again = self._clock() + RETRY_INTERVAL_SECONDS
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                taken = await shared.take(who, rates)
        except (CacheUnavailable, TimeoutError) as error:
            return self._without(str(error) or "the cache server takes too long.", who, rates)
        if self._away:
            self._away = ""
            log.info("call_limits_shared")
        return taken

    def _without(self, why: str, who: str, rates: Sequence[Rate]) -> Taken:
        if not self._away:
            log.warning("call_limits_alone", reason=why)
        self._away, self._asked_again = why, self._clock() + RETRY_INTERVAL_SECONDS
        return self._own.take_now(who, rates)
