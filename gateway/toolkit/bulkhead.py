"""Places for so many at once, and a queue for so many more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Full(Exception):
    """All places are taken, and the queue is full."""


class Places:
    """Lets so many in at once; others wait in turn.

    Args:
        calls: how many at once.
        queue: how many more may wait.

    Attributes:
        taken: how many places are taken.
    """

    def __init__(self, calls: int, queue: int) -> None:
        self._calls = calls
        self._queue = queue
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.taken = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """Hold a place for as long as the block lasts, once there is one.

        Raises:
            Full: the queue is full.
        """
        if self.taken < self._calls:
            self.taken += 1
        else:
            await self._turn()
        try:
            yield
        finally:
            self._leave()

    async def _turn(self) -> None:
        if len(self._waiting) >= self._queue:
            raise Full
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._leave()  # it was given the place in the moment that it gave up
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # the number of taken places stays what it is
                return
        self.taken -= 1
