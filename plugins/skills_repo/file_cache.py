"""A cache of files with a size limit, and one shared request per file."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from gateway.repositories import File

Key = tuple[str, ...]
Found = TypeVar("Found")

_ENTRY_OVERHEAD_BYTES = 1024
"""Bytes that an entry takes beside its content, about."""


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file, and when it was asked for, in seconds of the reader's clock."""

    file: File
    asked: float


class SizedCache(Generic[Found]):
    """A cache with a size limit that evicts the least recently used.

    Args:
        most: bytes in all.
        size: the bytes of one thing.
    """

    def __init__(self, most: int, size: Callable[[Found], int] = lambda found: 0) -> None:
        self._most = most
        self._size = size
        self._kept: OrderedDict[Key, Found] = OrderedDict()
        self.held = 0

    def get(self, key: Key) -> Found | None:
        """What is kept under a key, or None."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: Key, found: Found) -> None:
        """Store a value, unless it is larger than the whole cache."""
        self.forget(key)
        self._kept[key] = found
        self.held += _ENTRY_OVERHEAD_BYTES + self._size(found)
        while self.held > self._most:
            self._drop(next(iter(self._kept)))

    def forget(self, key: Key) -> None:
        """Drop what is kept under a key."""
        if key in self._kept:
            self._drop(key)

    def forget_source(self, source: str) -> None:
        """Drop all that is kept of a source, whose name begins each key."""
        for key in [key for key in self._kept if key[0] == source]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        self.held -= _ENTRY_OVERHEAD_BYTES + self._size(self._kept.pop(key))


class SingleFlight(Generic[Found]):
    """Shares one running request per key; a cancelled waiter does not cancel it for others."""

    def __init__(self) -> None:
        self._running: dict[Key, asyncio.Task[Found]] = {}

    async def share(self, key: Key, start: Callable[[], Coroutine[None, None, Found]]) -> Found:
        """The result of the request that runs for the key, or of a new one."""
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(start())
            task.add_done_callback(partial(self._landed, key))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what still runs."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _landed(self, key: Key, task: asyncio.Task[Found]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # somebody may have waited for it, or nobody any more
