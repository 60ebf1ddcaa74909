"""What calls came to in the last minute, from sums that are taken now and then."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.observability.logs import get_logger
from gateway.observability.loop_lag import LoopLag
from gateway.observability.loop_watchdog import LoopWatchdog, OwnerOf
from gateway.observability.metrics import Metrics
from gateway.toolkit.background import background, every

SAMPLE_SECONDS = 5.0
"""Seconds between two sums."""
_SAMPLES = 13

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Recent:
    """The calls of the last minute, or since the start where that is less.

    Attributes:
        seconds: how long that is.
        outcomes: calls by outcome.
        calls_seconds: how long the calls took together.
    """

    seconds: float
    outcomes: Counter[str]
    calls_seconds: float


class LastMinute:
    """Remembers sums of the last minute; costs no call anything.

    Args:
        metrics: where calls are counted.
        owner_of: says which plugin a module is a part of.
        clock: seconds that only grow; replaced in tests.

    Attributes:
        lag: how late the event loop was.
        watchdog: who held it.
    """

    def __init__(
        self,
        metrics: Metrics,
        owner_of: OwnerOf = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lag = LoopLag()
        self.watchdog = LoopWatchdog(self.lag, metrics, owner_of)
        metrics.gauge(
            "loop_lag_seconds",
            "How late the event loop was at its worst in the last minute.",
            lambda: self.lag.worst_seconds,
        )
        self._metrics = metrics
        self._clock = clock
        self._sums = deque([self._sum()], maxlen=_SAMPLES)

    async def sample(self) -> None:
        """Take the sums of now; called every :data:`SAMPLE_SECONDS`."""
        self._sums.append(self._sum())

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Take sums for as long as the block lasts."""
        taken = every(SAMPLE_SECONDS, self.sample, _not_taken)
        async with background(taken), self.lag.watched(), self.watchdog.watching():
            yield

    def recent(self) -> Recent:
        """What came since the oldest sum."""
        before, now = self._sums[0], self._sum()
        return Recent(
            seconds=now[0] - before[0],
            outcomes=now[1] - before[1],
            calls_seconds=now[2] - before[2],
        )

    def _sum(self) -> tuple[float, Counter[str], float]:
        outcomes, seconds = self._metrics.totals()
        return self._clock(), outcomes, seconds


def _not_taken(error: Exception) -> None:
    log.error("calls_not_summed", exc_info=error)
