"""How late the event loop is: what holds it keeps every caller waiting for as long."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from gateway.toolkit.background import background

INTERVAL_SECONDS = 0.1
"""Seconds between two looks."""
_WINDOW = 600
"""Looks that are remembered: those of a minute."""


class LoopLag:
    """Sleeps again and again, and sees how much later than asked for it wakes.

    Args:
        clock: seconds that only grow; replaced in tests.

    Attributes:
        turned_at: when the loop was last seen to turn, in the clock's seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.turned_at = clock()
        self._late: deque[float] = deque(maxlen=_WINDOW)

    @property
    def worst_seconds(self) -> float:
        """How late the loop was at its worst in the last minute."""
        return max(self._late.copy(), default=0.0)

    @asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        """Look for as long as the block lasts."""
        async with background(self._watch()):
            yield

    async def _watch(self) -> None:
        while True:
            before = self.turned_at = self._clock()
            await asyncio.sleep(INTERVAL_SECONDS)
            self._late.append(max(0.0, self._clock() - before - INTERVAL_SECONDS))
