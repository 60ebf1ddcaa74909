"""The cache in this process: right for one portal process, and what Redis falls back to."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from gateway.services.cache.service import CacheService, not_a_number, positive

__all__ = ["MemoryCache"]

DEFAULT_BYTES = 64 * 1024 * 1024
ENTRY_OVERHEAD_BYTES = 200
"""Bytes that an entry costs beside its key and value, in CPython, roughly."""
BACKLOG_MESSAGES = 1024
"""Messages kept for a listener that is slow; beyond it the oldest is dropped."""


class MemoryCache(CacheService):
    """Least recently used entries, within a bound of bytes.

    Args:
        max_bytes: how much keys, values and their overhead may take; what does not fit is
            evicted, the entry that was longest unused first.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self, max_bytes: int = DEFAULT_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[str, tuple[bytes, float | None]] = OrderedDict()
        self._bytes = 0
        self._listeners: defaultdict[str, set[asyncio.Queue[bytes]]] = defaultdict(set)

    async def ready(self) -> None:
        """As in the port."""

    def notices(self) -> Iterable[str]:
        """As in the port."""
        return ()

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        entry = self._live(key)
        return entry[0] if entry else None

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store a value, for ``ttl`` seconds or until it is evicted."""
        self._store(key, value, None if ttl is None else self._clock() + positive(ttl))

    async def delete(self, key: str) -> None:
        """Forget a value; an absent key is not an error."""
        self._forget(key)

    async def increment(self, key: str, ttl: float) -> int:
        """Add one to a counter that expires ``ttl`` seconds after its first increment.

        Raises:
            ValueError: the key holds something other than a whole number.
        """
        value, expires = self._live(key) or (b"0", self._clock() + positive(ttl))
        try:
            count = int(value) + 1
        except ValueError:
            raise not_a_number(key) from None
        self._store(key, b"%d" % count, expires)
        return count

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to everyone who listens on the channel now."""
        for queue in self._listeners.get(channel, ()):
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(message)

    @asynccontextmanager
    async def listen(self, channel: str) -> AsyncGenerator[AsyncIterator[bytes]]:
        """Receive the channel's messages from the moment the block is entered."""
        queue: asyncio.Queue[bytes] = asyncio.Queue(BACKLOG_MESSAGES)
        self._listeners[channel].add(queue)
        try:
            yield _drain(queue)
        finally:
            self._listeners[channel].discard(queue)
            if not self._listeners[channel]:
                del self._listeners[channel]

    def oldest(self) -> tuple[str, bytes, float | None] | None:
        """The entry that was longest unused: its key, its value and the seconds it has left."""
        while self._entries:
            key = next(iter(self._entries))
            if entry := self._live(key):
                value, expires = entry
                return key, value, None if expires is None else expires - self._clock()
        return None

    async def close(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._bytes = 0

    def _live(self, key: str) -> tuple[bytes, float | None] | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry[1] is not None and entry[1] <= self._clock():
            self._forget(key)
            return None
        self._entries.move_to_end(key)
        return entry

    def _store(self, key: str, value: bytes, expires: float | None) -> None:
        self._forget(key)
        self._entries[key] = (value, expires)
        self._bytes += _cost(key, value)
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._entries)))

    def _forget(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= _cost(key, entry[0])


def _cost(key: str, value: bytes) -> int:
    return len(key) + len(value) + ENTRY_OVERHEAD_BYTES


async def _drain(queue: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
    while True:
        yield await queue.get()
