"""Which cache an address names."""

from __future__ import annotations

from gateway.services.cache.memory import MemoryCache
from gateway.services.cache.service import CacheService
from gateway.services.clients import need

__all__ = ["open_cache"]


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
        from gateway.services.cache.redis import RedisCache

        return RedisCache(address)
    raise ValueError("The cache is 'memory' or a redis://, rediss:// or unix:// URL.")
