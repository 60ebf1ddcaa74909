"""Revocations: they act at once in this process, and in every replica within a few seconds.

What was looked up is remembered together with the tags that end it (``Identity.tags``). To
revoke is to mark it in its own table first, and then to note its tag here: every replica reads
the notes again and again, and forgets what it remembered under that tag, so that the next use
is looked up anew. A replica that cannot read the notes trusts nothing it remembers.

Only the order of moments in one process counts, never a clock of another machine: what is
remembered carries the moment before its look-up began, a tag the moment after its note was read.
A look-up that may have seen the time before the change is therefore always the older one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

INTERVAL = 2.0
"""Seconds between two looks at the notes."""
TRUSTED = 5.0
"""Seconds without a look after which nothing remembered is trusted any more."""
KEPT = 10_000
"""Tags whose last revocation is remembered; with the oldest goes all that is older still."""


class RevocationStore(Protocol):
    """What was revoked lately, in order, so that each replica hears of it."""

    async def append(self, subjects: Sequence[str]) -> None:
        """Note that what carries these tags (``Identity.tags``) must be looked up again."""
        ...

    async def since(self, number: int) -> list[tuple[int, str]]:
        """The entries after a number, in order, as (number, subject)."""
        ...

    async def latest(self) -> int:
        """The number of the newest entry, or 0."""
        ...


class Revocations:
    """Says whether something that was remembered may still be used.

    Args:
        store: the notes that all replicas share.
        clock: seconds that only grow; replaced in tests.
        failed: told of an error when the notes cannot be read.
        told: given the tags of what was revoked, in whichever process; or None where that is not
            known, and all that is remembered must be looked up again.
    """

    def __init__(
        self,
        store: RevocationStore,
        clock: Callable[[], float] = time.monotonic,
        failed: Callable[[Exception], None] = lambda _: None,
        told: Callable[[Sequence[str] | None], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._failed = failed
        self._told = told
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._read_to = 0
        self._looked = clock()
        self._trusted_from = -math.inf

    def now(self) -> float:
        """The moment to remember with what is looked up; take it before the look-up begins."""
        return self._clock()

    def holds(self, tags: Iterable[str], since: float) -> bool:
        """Whether nothing with these tags was revoked since a moment."""
        if since < self._trusted_from or self._clock() - self._looked > TRUSTED:
            return False
        ended = self._ended
        return not ended or all(ended.get(tag, -math.inf) < since for tag in tags)

    async def revoke(self, *tags: str) -> None:
        """Note that what carries these tags must be looked up again, here and elsewhere.

        Call it once the change is made. Here it counts even where the note cannot be written.
        """
        if tags:
            self._forget(tags)
            await self._store.append(tags)

    async def begin(self) -> None:
        """Skip the notes from before; what was remembered until now is not trusted."""
        looked = self._clock()
        self._read_to = max(self._read_to, await self._store.latest())
        self._trusted_from = self._clock()
        self._told(None)
        self._looked = looked

    async def look(self) -> None:
        """Read the notes that are new."""
        looked = self._clock()
        new = await self._store.since(self._read_to)
        if new:
            self._forget([tag for _, tag in new])
            self._read_to = max(self._read_to, new[-1][0])
        elif await self._store.latest() < self._read_to:
            # A backup was put back, whose numbers are given once more; or all notes were purged.
            self._read_to = 0
            await self.begin()
        self._looked = max(self._looked, looked)

    async def follow(self, interval: float = INTERVAL) -> None:
        """Look again and again, until cancelled."""
        while True:
            await asyncio.sleep(interval)
            try:
                async with asyncio.timeout(TRUSTED):  # a dead connection may never answer
                    await self.look()
            except Exception as error:
                self._failed(error)

    def _forget(self, tags: Sequence[str]) -> None:
        self._told(tags)
        now = self._clock()
        for tag in tags:
            self._ended[tag] = now
            self._ended.move_to_end(tag)
        while len(self._ended) > KEPT:
            _, ended = self._ended.popitem(last=False)
            # Which tag it was is not known any more, so it ended everything up to its moment.
            self._trusted_from = max(self._trusted_from, math.nextafter(ended, math.inf))
