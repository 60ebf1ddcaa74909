"""Where sliding windows are kept: where the cache is."""

from __future__ import annotations

from gateway.limits.sliding_window import MemoryWindows, Windows
from gateway.limits.sliding_window_redis import RedisWindows
from gateway.services.cache.redis import RedisCache
from gateway.services.cache.service import CacheService

__all__ = ["open_windows"]


def open_windows(cache: CacheService) -> Windows:
    """Sliding windows kept where the cache is: on its server, or in this process."""
    if not isinstance(cache, RedisCache):
        return MemoryWindows()
    return RedisWindows(lambda: cache.redis, ask=cache.ask)
