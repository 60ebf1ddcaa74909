"""The cache service: short-lived bytes, counters and messages.

``memory`` keeps them in this process, which is right for one portal process; several replicas
share a Redis or Valkey server. A cache may forget at any time, and a message reaches only those
who listen now: nothing here is durable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from gateway.contract.services import Cache

__all__ = ["CacheService", "CacheUnavailable", "ScopedCache"]


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
