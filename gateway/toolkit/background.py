"""Work that goes on behind a block, and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, Any]) -> AsyncGenerator[None]:
    """Run coroutines for as long as the block lasts, and cancel them at its end.

    The block goes on where one of them fails.

    Args:
        work: coroutines that have not begun.

    Raises:
        Exception: the first one's failure, once all have ended.
    """
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        await cancel(*tasks)


async def cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait until they have ended, also those that had already.

    Raises:
        Exception: what the first of them has failed with.
    """
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled() and (failure := task.exception()) is not None:
            raise failure


async def every(
    interval_s: float,
    work: Callable[[], Awaitable[object]],
    failed: Callable[[Exception], object],
    *,
    first_s: float | None = None,
) -> None:
    """Do something again and again until cancelled; what fails is tried again the next time.

    Args:
        interval_s: the pause between two times, in seconds.
        work: what is done.
        failed: is told of each failure.
        first_s: the pause before the first time, where it is another one.
    """
    await asyncio.sleep(interval_s if first_s is None else first_s)
    while True:
        try:
            await work()
        except Exception as error:
            failed(error)
        await asyncio.sleep(interval_s)
