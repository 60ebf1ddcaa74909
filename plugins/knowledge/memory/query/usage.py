"""Counts how often entries are read or returned, and writes the counts in intervals."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress

from gateway.toolkit.background import to_its_end

WRITE_INTERVAL_S = 5.0
"""Seconds between two writes of the counts."""
WriteUses = Callable[[Mapping[str, int]], Awaitable[None]]
"""``await keep({id: uses})``: adds uses to what is known of entries."""


class Usage:
    """Uses that are not written yet; a process that is killed loses those of the last seconds.

    Args:
        keep: writes them to the database.
    """

    def __init__(self, keep: WriteUses) -> None:
        self._keep = keep
        self._waiting: Counter[str] = Counter()

    def count(self, ids: Iterable[str]) -> None:
        """Count a use of each; returns at once."""
        self._waiting.update(ids)

    async def run(self) -> None:
        """Write now and then, for as long as it is awaited."""
        while True:
            await asyncio.sleep(WRITE_INTERVAL_S)
            with suppress(Exception):  # the next time it is tried again
                await self.flush()

    async def flush(self) -> None:
        """Write what is waiting; what cannot be written waits on, and nothing is written twice."""
        await to_its_end(self._flush())

    async def _flush(self) -> None:
        waiting, self._waiting = self._waiting, Counter()
        if not waiting:
            return
        try:
            await self._keep(waiting)
        except BaseException:
            self._waiting.update(waiting)
            raise
