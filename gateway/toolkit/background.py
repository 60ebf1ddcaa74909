"""Work that goes on behind a block, and ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")
GRACE_SECONDS = 5.0
"""Seconds that work has to come to its end after whoever waits for it was cancelled."""


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, Any]) -> AsyncGenerator[None]:
    """Run coroutines for as long as the block lasts, and cancel them at its end.

    The block goes on where one of them fails, and the log says so at once.

    Args:
        work: coroutines that have not begun.

    Raises:
        Exception: the first one's failure, once all have ended.
    """
    tasks = [start(each) for each in work]
    try:
        yield
    finally:
        await cancel(*tasks)


def start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start work that is looked at only at its end: where it fails, the log says so at once.

    Args:
        work: a coroutine that has not begun.

    Returns:
        The task that runs it, to be ended with :func:`cancel`.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_tell_of_failure)
    return task


def _tell_of_failure(task: asyncio.Task[Any]) -> None:
    if task.cancelled() or (failure := task.exception()) is None:
        return
    import structlog  # late: commands use this too, and log nothing

    name = getattr(task.get_coro(), "__qualname__", task.get_name())
    reason = str(failure) or type(failure).__name__
    log = structlog.get_logger(__name__)
    log.error("background_work_ended", work=name, reason=reason, exc_info=failure)


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


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Await work that must not be cut in the middle: a cancellation waits until it has ended.

    Whoever is cancelled during a COMMIT cannot know whether it was one. This work ends first, and
    the cancellation is raised then; work that takes over :data:`GRACE_SECONDS` is cancelled too.

    Args:
        work: a coroutine that has not begun.

    Raises:
        Exception: what the work raises.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        task.cancel()
        await asyncio.wait({task})
        raise


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
