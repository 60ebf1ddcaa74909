"""The cache service: short-lived bytes, counters and messages.

``memory`` keeps them in this process, which is right for one portal process; several replicas
share a Redis or Valkey server. A cache may forget at any time, and a message reaches only those
who listen now: nothing here is durable.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from gateway.contract.services import Cache
from gateway.services.clients import need

__all__ = ["CacheService", "CacheUnavailable", "MemoryCache", "ScopedCache", "open_cache"]

DEFAULT_BYTES = 64 * 1024 * 1024
ENTRY_OVERHEAD_BYTES = 200
"""Bytes that an entry costs beside its key and value, in CPython, roughly."""
BACKLOG_MESSAGES = 1024
"""Messages kept for a listener that is slow; beyond it the oldest is dropped."""


class CacheUnavailable(OSError):
    """The cache server does not answer or refuses; the message says which, and no secret."""


class CacheService(Cache, Protocol):
    """A cache as the gateway holds it: it can be shared out and closed."""

    def scoped(self, prefix: str) -> ScopedCache:
        """The share of one owner; a prefix holds no ``:``."""
        return ScopedCache(self, prefix)

    async def ready(self) -> None:
        """See that the server is there, where there is one.

        Raises:
            CacheUnavailable: it is not.
        """
        ...

    def notices(self) -> Iterable[str]:
        """What an admin should look at: a server that is away."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


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


class ScopedCache:
    """One owner's share of a cache: the same port, under a prefix that it does not see.

    Args:
        cache: the whole.
        prefix: the owner; it holds no ``:``, so that two owners never meet.
    """

    def __init__(self, cache: Cache, prefix: str) -> None:
        if not prefix or ":" in prefix:
            raise ValueError(f"A cache prefix is a word without ':', not {prefix!r}.")
        self._cache = cache
        self._prefix = prefix + ":"

    async def get(self, key: str) -> bytes | None:
        """As in the port."""
        return await self._cache.get(self._prefix + key)

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """As in the port."""
        await self._cache.set(self._prefix + key, value, ttl)

    async def delete(self, key: str) -> None:
        """As in the port."""
        await self._cache.delete(self._prefix + key)

    async def increment(self, key: str, ttl: float) -> int:
        """As in the port."""
        return await self._cache.increment(self._prefix + key, ttl)

    async def publish(self, channel: str, message: bytes) -> None:
        """As in the port."""
        await self._cache.publish(self._prefix + channel, message)

    def listen(self, channel: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """As in the port."""
        return self._cache.listen(self._prefix + channel)


def open_cache(address: str) -> CacheService:
    """The cache service at an address; nothing is connected until it is used.

    Args:
        address: ``memory``, or the ``redis://``, ``rediss://`` or ``unix://`` URL of a server.

    Raises:
        ValueError: the address is neither, or the client is not installed.
    """
    if address == "memory":
        return MemoryCache()
    if address.startswith(("redis://", "rediss://", "unix://")):
        need("redis", "Redis")
        from gateway.services.cache_redis import RedisCache

        return RedisCache(address)
    raise ValueError("The cache is 'memory' or a redis://, rediss:// or unix:// URL.")


def _cost(key: str, value: bytes) -> int:
    return len(key) + len(value) + ENTRY_OVERHEAD_BYTES


def not_a_number(key: str) -> ValueError:
    """The error of counting up from something that is no whole number."""
    return ValueError(f"The cache key {key} holds no whole number.")


def positive(ttl: float) -> float:
    """The time to live in seconds, if it is one.

    Raises:
        ValueError: it is zero or less.
    """
    if ttl <= 0:
        raise ValueError("A time to live is more than 0 seconds.")
    return ttl


async def _drain(queue: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
    while True:
        yield await queue.get()
