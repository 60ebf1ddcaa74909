"""How much of the portal one plugin, or one of its items, may take: calls at once, and bytes.

What is over waits in a queue that is bounded too; what is over that is told at once who is busy.
Where nothing is full, entering and leaving are two additions.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping

from gateway.catalog.items import Item
from gateway.config.bulkheads import Bounds, PluginBounds
from gateway.contract import ToolFailed
from gateway.toolkit.counts import counted

RETRY_SECONDS = 5
"""Seconds after which a caller that was told of a full queue should try again."""


class Bulkhead:
    """Counts the calls of a plugin or an item that run, and has others wait.

    Args:
        name: whose calls, for messages.
        bounds: how many may run and wait.
    """

    __slots__ = ("bounds", "calls", "name", "running", "seconds", "waiting")

    def __init__(self, name: str, bounds: Bounds) -> None:
        self.name = name
        self.bounds = bounds
        self.calls = bounds.calls
        self.seconds = None if bounds.time is None else bounds.time.total_seconds()
        self.running = 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self, seconds: float) -> None:
        """Wait for the place of a call that ends, and take it.

        Args:
            seconds: how long at most.

        Raises:
            ToolFailed: the queue is full, or no place was free in that time.
        """
        if len(self.waiting) >= self.bounds.queue:
            raise self._busy()
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.leave()  # it was given the place in the moment that it gave up
            elif turn in self.waiting:
                self.waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise self._busy() from None
            raise

    def leave(self) -> None:
        """Give the place to the call that has waited longest, or free it."""
        while self.waiting and self.running <= self.calls:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # the number that run stays what it is
                return
        self.running -= 1

    def _busy(self) -> ToolFailed:
        details = {"busy": self.name, "retry_after_seconds": RETRY_SECONDS}
        runs = counted(self.running, "call runs", "calls run")
        return ToolFailed(
            "busy",
            f"{self.name} is busy: {runs} and {len(self.waiting)} wait. "
            f"Retry after {RETRY_SECONDS} s.",
            details,
        )


class Lent:
    """The place of a call, which others have while the call waits for calls of its own.

    Without that, as many calls as there are places would wait for each other for ever.

    Args:
        bulkhead: where it has its place.
    """

    __slots__ = ("_bulkhead", "_calls")

    def __init__(self, bulkhead: Bulkhead) -> None:
        self._bulkhead = bulkhead
        self._calls = 0

    def __enter__(self) -> None:
        """One more call is waited for; with the first the place is free."""
        self._calls += 1
        if self._calls == 1:
            self._bulkhead.leave()

    def __exit__(self, *error: object) -> None:
        """One less; after the last the place is taken again, even where all are."""
        self._calls -= 1
        if not self._calls:
            self._bulkhead.running += 1


class Bulkheads:
    """The bulkheads of all plugins and items.

    Args:
        bounds_of: a plugin's bounds, as ``portal.yaml`` has them.
        deadline: seconds a call may take where nobody says otherwise.
        question: seconds a person may take to answer a question, which count for no deadline.
    """

    def __init__(
        self, bounds_of: Callable[[str], PluginBounds], deadline: float, question: float
    ) -> None:
        self._bounds_of = bounds_of
        self.deadline = deadline
        self.question = question
        self._plugins: dict[str, Bulkhead] = {}
        self._items: dict[str, tuple[object, tuple[Bulkhead, ...]]] = {}

    def of(self, item: Item) -> tuple[Bulkhead, ...]:
        """The bulkheads that a call of an item passes: its plugin's, and its own if it has one."""
        found = self._items.get(item.key)
        if found is None or found[0] is not item.declared:
            found = self._items[item.key] = item.declared, self._made(item)
        return found[1]

    def check(self, item: Item, size: int) -> None:
        """Raise where an answer is larger than its item's may be.

        Args:
            item: what has answered.
            size: about how many bytes the answer has.

        Raises:
            ToolFailed: it is.
        """
        if size > (most := self.of(item)[-1].bounds.bytes):
            raise too_large(item.name, size, most)

    def waiting(self) -> Mapping[tuple[str, ...], float]:
        """How many calls wait, by plugin; for metrics."""
        return {(name,): len(each.waiting) for name, each in list(self._plugins.items())}

    def _made(self, item: Item) -> tuple[Bulkhead, ...]:
        bounds = self._bounds_of(item.plugin)
        whole = self._plugins.setdefault(item.plugin, Bulkhead(item.plugin, bounds))
        own = bounds.items.get(item.identity)
        at_once = getattr(item.declared, "calls_at_once", None)
        if own is None and at_once is None:
            return (whole,)
        narrow = own or bounds.model_copy(update={"calls": at_once})
        return whole, Bulkhead(item.key, narrow)


def too_large(name: str, size: int, most: int) -> ToolFailed:
    """What the caller of an item reads whose answer is larger than it may be."""
    return ToolFailed(
        "result_too_large",
        f"{name} has answered with about {size / 2**20:,.1f} MiB, and {most / 2**20:,.1f} MiB "
        "is the most. Ask for less.",
        {"bytes": size, "most": most},
    )
