"""Revocations: they act at once in this process, and in every replica within a few seconds.

Cached identities carry tags (``Identity.tags``), such as the token and the person that they
depend on. To revoke something, it is marked in its own table first, and then its tag is written
to a log that all replicas share. Every replica polls the log and drops what it cached under the
tags in it, so that the next use is looked up anew. A replica that cannot read the log trusts
nothing that it cached.

Only the order of moments in one process counts, never a clock of another machine: a cached value
carries the moment before its look-up began, a revoked tag the moment after its entry was read. A
look-up that may have seen the time before the change is therefore always the older one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

POLL_INTERVAL_S = 2.0
"""Seconds between two reads of the log."""
MAX_SILENCE_S = 5.0
"""Seconds without a successful read after which nothing cached is trusted any more."""
MAX_TAGS = 10_000
"""Revoked tags that are remembered; what is older than a dropped one is not trusted."""


class RevocationStore(Protocol):
    """The shared log of recent revocations, in order."""

    async def append(self, subjects: Sequence[str]) -> None:
        """Add an entry for each of these tags (``Identity.tags``)."""
        ...

    async def since(self, number: int) -> list[tuple[int, str]]:
        """The entries after a number, in order, as (number, tag)."""
        ...

    async def latest(self) -> int:
        """The number of the newest entry, or 0."""
        ...


class Revocations:
    """Says whether a cached value may still be used.

    Args:
        store: the log that all replicas share.
        clock: seconds that only grow; replaced in tests.
        failed: called with the error when the log cannot be read.
        on_revoked: called with the tags that were revoked, by whichever process; with None if
            they are not known, so that everything cached must be looked up again.
    """

    def __init__(
        self,
        store: RevocationStore,
        clock: Callable[[], float] = time.monotonic,
        failed: Callable[[Exception], None] = lambda _: None,
        on_revoked: Callable[[Sequence[str] | None], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._failed = failed
        self._on_revoked = on_revoked
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._read_to = 0
        self._looked = clock()
        self._trusted_from = -math.inf

    def now(self) -> float:
        """The moment to store with a cached value; take it before the look-up begins."""
        return self._clock()

    def holds(self, tags: Iterable[str], since: float) -> bool:
        """Whether a value with these tags, looked up at a moment, may still be used."""
        if since < self._trusted_from or self._clock() - self._looked > MAX_SILENCE_S:
            return False
        ended = self._ended
        return not ended or all(ended.get(tag, -math.inf) < since for tag in tags)

    async def revoke(self, *tags: str) -> None:
        """Have values with these tags looked up again, here and on every replica.

        Call it after the change is stored. In this process it counts even if the log fails.
        """
        if tags:
            self._forget(tags)
            await self._store.append(tags)

    async def begin(self) -> None:
        """Start at the end of the log; nothing that was cached until now is trusted."""
        looked = self._clock()
        self._read_to = max(self._read_to, await self._store.latest())
        self._trusted_from = self._clock()
        self._on_revoked(None)
        self._looked = looked

    async def look(self) -> None:
        """Read the new entries of the log."""
        looked = self._clock()
        latest = await self._store.latest()
        if latest < self._read_to:
            # A backup was restored, and its numbers are used again; or the whole log was purged.
            self._read_to = 0
            await self.begin()
        elif latest > self._read_to and (new := await self._store.since(self._read_to)):
            self._forget([tag for _, tag in new])
            self._read_to = max(self._read_to, new[-1][0])
        self._looked = max(self._looked, looked)

    async def follow(self, interval: float = POLL_INTERVAL_S) -> None:
        """Read the log every ``interval`` seconds until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                async with asyncio.timeout(MAX_SILENCE_S):  # a dead connection may never answer
                    await self.look()
            except Exception as error:
                self._failed(error)

    def _forget(self, tags: Sequence[str]) -> None:
        self._on_revoked(tags)
        now = self._clock()
        for tag in tags:
            self._ended[tag] = now
            self._ended.move_to_end(tag)
        while len(self._ended) > MAX_TAGS:
            _, ended = self._ended.popitem(last=False)
            # Which tag this was is forgotten now, so nothing up to its moment is trusted.
            self._trusted_from = max(self._trusted_from, math.nextafter(ended, math.inf))
