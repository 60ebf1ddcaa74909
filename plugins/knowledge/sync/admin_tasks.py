"""Tasks that an admin starts and polls: a full sync, a verification."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from gateway.toolkit.background import cancel

Result = TypeVar("Result")


class AdminTask(Generic[Result]):
    """One kind of work, at most once at a time.

    Attributes:
        result: what the last one gave, or None.
        error: why the last one failed, or an empty text.
    """

    def __init__(self) -> None:
        self.result: Result | None = None
        self.error = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it is being done just now."""
        return self._task is not None and not self._task.done()

    def begin(self, work: Callable[[], Awaitable[Result]]) -> None:
        """Begin, unless it is being done."""
        if not self.running:
            self.result, self.error = None, ""
            self._task = asyncio.create_task(self._run(work))

    async def close(self) -> None:
        """Give it up."""
        if self._task is not None:
            await cancel(self._task)

    async def _run(self, work: Callable[[], Awaitable[Result]]) -> None:
        try:
            self.result = await work()
        except Exception as error:
            self.error = str(error) or type(error).__name__
