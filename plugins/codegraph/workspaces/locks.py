"""One writer at a time for one workspace, also where the portal has several replicas.

The seed's values (kap10, ``sync_local_diff``): a lock lives for 30 seconds at most, and who finds
it taken tries three times more, after 200 milliseconds each.
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
"""Seconds before its end in which a lock is left to end by itself: it may be another's by then."""


class Busy(Exception):
    """Somebody else holds the lock."""


@asynccontextmanager
async def held(cache: Cache, key: str) -> AsyncGenerator[None]:
    """Hold a lock for the time of the block, and no longer than it lives.

    Args:
        cache: shared by all replicas.
        key: what is locked.

    Raises:
        Busy: it is taken, and stayed so.
        TimeoutError: the block took longer than a lock lives.
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
