"""A time limit for a server's answer that leaves out what this process itself was late by.

A process that stands still for a second, because the machine is busy or it computes, has not
waited for anybody meanwhile: the answer may lie in its socket. The limit is counted in short steps,
and a step that ends late counts as one step.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["patience"]

STEPS = 10
"""Steps of a limit: a process that stands still once uses up one of them."""


@asynccontextmanager
async def patience(seconds: float) -> AsyncGenerator[None]:
    """Run the block for at most so long, as :func:`asyncio.timeout` does.

    Args:
        seconds: how long a server may take for what the block asks.

    Raises:
        TimeoutError: it took longer.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle
    async with asyncio.timeout(None) as scope:

        def step(left: int) -> None:
            nonlocal timer
            if left:
                timer = loop.call_later(seconds / STEPS, step, left - 1)
            else:
                scope.reschedule(loop.time())

        timer = loop.call_later(seconds / STEPS, step, STEPS - 1)
        try:
            yield
        finally:
            timer.cancel()
