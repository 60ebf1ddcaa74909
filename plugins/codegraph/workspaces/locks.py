"""A lock that allows one writer per workspace, across all replicas of the portal.

The seed's values (kap10, ``sync_local_diff``): a lock lives for at most 30 seconds, and a waiter
retries three times, after 200 milliseconds each.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Cache

LOCK_TTL_S = 30.0
MAX_RETRIES = 3
RETRY_INTERVAL_S = 0.2
_MARGIN_S = 5.0
"""Safety margin in seconds: a lock this close to its expiry is not deleted, as it may already be
another's."""


class Busy(Exception):
    """Somebody else holds the lock."""


@asynccontextmanager
async def held(cache: Cache, key: str) -> AsyncGenerator[None]:
    """Hold a lock for the duration of the block, at most for its lifetime.

    Args:
        cache: shared by all replicas.
        key: identifies the lock.

    Raises:
        Busy: it is held by somebody else, after all retries.
        TimeoutError: the block took longer than the lock lives.
    """
    begun = await _taken(cache, key)
    try:
        async with asyncio.timeout(LOCK_TTL_S - _MARGIN_S):
            yield
    finally:
        if time.monotonic() - begun < LOCK_TTL_S - _MARGIN_S / 2:
            await cache.delete(key)


async def _taken(cache: Cache, key: str) -> float:
    for attempt in range(MAX_RETRIES + 1):
        if attempt:
            await asyncio.sleep(RETRY_INTERVAL_S)
        begun = time.monotonic()
        if await cache.increment(key, LOCK_TTL_S) == 1:
            return begun
    raise Busy(key)
