"""Coroutines that are mostly done at their first step, and need no timer or second task then.

A coroutine that never waits cannot be interrupted: no timeout can end it and nobody can notice
meanwhile that it is slow. So what watches over work is only made once the work waits for something.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

T = TypeVar("T")


class Done(NamedTuple, Generic[T]):
    """What a coroutine returned without waiting for anything."""

    value: T


class Begun(Generic[T]):
    """A coroutine that waits for something; ``await`` it, once, in the task that began it.

    Args:
        work: the coroutine.
        waited_for: what its first step has yielded to the loop, which was not told of it yet.
    """

    def __init__(self, work: Coroutine[Any, Any, T], waited_for: Any) -> None:
        self._work = work
        self._waited_for = waited_for
        self._is_told = False

    def __await__(self) -> Generator[Any, Any, T]:
        """Go on where the first step ended."""
        return self  # type: ignore[return-value]  # it has a generator's methods, and no frame

    def __iter__(self) -> Self:
        """The iterator that ``await`` drives."""
        return self

    def __next__(self) -> Any:
        """Tell the loop what is waited for, or take the next step."""
        return self.send(None)

    def send(self, value: Any) -> Any:
        """The next step."""
        if self._is_told:
            return self._work.send(value)
        self._is_told = True
        return self._waited_for

    def throw(
        self,
        kind: type[BaseException] | BaseException,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> Any:
        """The next step, which begins with an error."""
        return self._work.throw(kind if error is None else error)

    def close(self) -> None:
        """End the coroutine where it stands."""
        self._work.close()


def begin(work: Coroutine[Any, Any, T]) -> Done[T] | Begun[T]:
    """Take the first step of a coroutine, in the running task.

    Args:
        work: what has not begun yet.

    Raises:
        Exception: what the first step raises.
    """
    try:
        waited_for = work.send(None)
    except StopIteration as done:
        return Done(done.value)
    return Begun(work, waited_for)


async def within(
    seconds: float,
    work: Coroutine[Any, Any, T],
    late: Callable[[], Exception],
    runs: Callable[[asyncio.Timeout], object] | None = None,
) -> T:
    """Await a coroutine for so long at most.

    Args:
        seconds: how long, from now on.
        work: what has not begun yet.
        late: makes what is raised where it takes longer. A ``TimeoutError`` of the work's own is
            raised as it is.
        runs: is given the deadline, where there has to be one, and may reschedule it.
    """
    began = time.monotonic()  # asking for the loop is a system call before Python 3.12
    first = begin(work)
    if not isinstance(first, Begun):
        return first.value
    try:
        async with asyncio.timeout(began + seconds - time.monotonic()) as deadline:
            if runs is not None:
                runs(deadline)
            return await first
    except TimeoutError:
        if not deadline.expired():
            raise
        raise late() from None
