"""A cache in memory, by workflow and version."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Version = tuple[str, int]
"""A workflow's id, and its version."""
T = TypeVar("T")


class PlanCache(Generic[T]):
    """The values used last, within bounds; concurrent requests for one share the work.

    Args:
        most: values.
        most_bytes: of all values together.
        size: about how many bytes a value takes.
    """

    def __init__(self, most: int, most_bytes: int, size: Callable[[T], int]) -> None:
        self._most, self._most_bytes, self._size = most, most_bytes, size
        self._values: OrderedDict[Version, tuple[T, int]] = OrderedDict()
        self._made: dict[Version, asyncio.Task[T]] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    async def get(self, key: Version, make: Callable[[], Awaitable[T]]) -> T:
        """The value of a key; whoever asks while it is being made waits for the same one.

        Args:
            key: what names it.
            make: makes it; what it raises reaches all who wait, and is not kept.
        """
        if (held := self._values.get(key)) is not None:
            self._values.move_to_end(key)
            return held[0]
        if (made := self._made.get(key)) is None:
            # A task of its own: whoever asked first may be cancelled while others wait.
            made = self._made[key] = asyncio.create_task(self._make(key, make))
        return await asyncio.shield(made)

    async def _make(self, key: Version, make: Callable[[], Awaitable[T]]) -> T:
        try:
            value = await make()
        finally:
            del self._made[key]
        self._keep(key, value)
        return value

    def _keep(self, key: Version, value: T) -> None:
        size = self._size(value)
        self._values[key] = value, size
        self.bytes += size
        while len(self._values) > self._most or self.bytes > self._most_bytes:
            _, (_, freed) = self._values.popitem(last=False)
            self.bytes -= freed
