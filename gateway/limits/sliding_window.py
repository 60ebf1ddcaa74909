"""Sliding windows: how often each key did something of late, exact under concurrency.

``MemoryWindows`` counts in this process; several replicas count together in Redis
(:mod:`gateway.limits.sliding_window_redis`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gateway.limits.limiter import Limiter

__all__ = ["MemoryWindows", "Rate", "Taken", "Windows"]

MAX_KEYS = 16_384
"""Keys that are remembered of each rate in memory."""


class Rate(NamedTuple):
    """How often a key may do something.

    Attributes:
        name: what is counted, such as ``members`` or ``tool:search_code``; rates of one name have
            the same limit and seconds.
        limit: times within the seconds; at least 1.
        seconds: the length of the window, whichever moment it is counted from.
        key: who does it, where that is not whom the other rates are of.
        shown: whether a caller is told how much of it is left.
    """

    name: str
    limit: int
    seconds: float
    key: str = ""
    shown: bool = True


class Taken(NamedTuple):
    """What came of doing it once more.

    Attributes:
        rate: the rate that says no for longest, or that of those shown which is nearest to it.
        wait_seconds: seconds until it is allowed; 0 where it was allowed, and counted.
        left: how often it may be done now before the rate says no.
    """

    rate: Rate
    wait_seconds: float
    left: int


class Windows(Protocol):
    """Counts what keys do, under several rates at once."""

    async def take(self, key: str, rates: Sequence[Rate]) -> Taken:
        """Count once more for a key under every rate, or under none where one says no.

        Args:
            key: who, but for rates that have a key of their own.
            rates: at least one; the first is shown.

        Raises:
            CacheUnavailable: a server that counts does not answer.
        """
        ...


class MemoryWindows(Windows):
    """Counts in this process.

    Args:
        clock: seconds that never go back; replaced in tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._limiters: dict[str, Limiter] = {}

    async def take(self, key: str, rates: Sequence[Rate]) -> Taken:
        """As in the port; never waits for anything."""
        return self.take_now(key, rates)

    def take_now(self, key: str, rates: Sequence[Rate]) -> Taken:
        """As :meth:`take`, at once."""
        limiters, now = self._limiters, self._clock()
        tight, longest, least = rates[0], -1.0, 0
        for rate in rates:
            wait, left = (limiters.get(rate.name) or self._new(rate)).look(rate.key or key, now)
            if wait > longest or (wait == longest and left < least and rate.shown):
                tight, longest, least = rate, wait, left
        if longest > 0:
            return Taken(tight, longest, 0)
        for rate in rates:
            limiters[rate.name].count(rate.key or key, now)
        return Taken(tight, 0.0, least - 1)

    def _new(self, rate: Rate) -> Limiter:
        limiter = Limiter(rate.limit, rate.seconds, MAX_KEYS, self._clock)
        return self._limiters.setdefault(rate.name, limiter)
