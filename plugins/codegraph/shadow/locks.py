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

SECONDS = 30.0
RETRIES = 3
PAUSE = 0.2
_MARGIN = 5.0
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
        async with asyncio.timeout(SECONDS - _MARGIN):
            yield
    finally:
        if time.monotonic() - begun < SECONDS - _MARGIN / 2:
            await cache.delete(key)


async def _taken(cache: Cache, key: str) -> float:
    for attempt in range(RETRIES + 1):
        if attempt:
            await asyncio.sleep(PAUSE)
        begun = time.monotonic()
        if await cache.increment(key, SECONDS) == 1:
            return begun
    raise Busy(key)
