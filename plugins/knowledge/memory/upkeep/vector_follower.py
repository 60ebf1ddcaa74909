"""Brings this process's own vector store up to what other processes write.

Where several processes of a portal share a database and each has a vector store of its own, the
events say what was written elsewhere, and the database has the vector of every entry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from plugins.knowledge.memory.store.failure_log import FailureLog
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.streams.event_log import EventLog
from plugins.knowledge.memory.upkeep.vector_repair import VectorRepair

POLL_INTERVAL_S = 1.0
"""Seconds between two looks: how long others' entries are found by their words alone, at most."""
REPAIR_INTERVAL_S = 600.0
"""Seconds between two comparisons of the whole store: a job of upkeep runs in one process only."""
RETRY_INTERVAL_S = 5.0
"""Seconds after which it is tried again where a store does not answer."""
PAGE_SIZE = 200
"""Events that are followed at once."""


@dataclass(slots=True)
class VectorFollower:
    """Follows the entries that this process or another one writes.

    Attributes:
        events: what happened, in order.
        inventory: what there is.
        vectors: the store of this process; ``vectors.behind`` says whether it is.
        failed: hears why a store does not answer.
        clock: seconds that only grow; replaced in tests.
    """

    events: EventLog
    inventory: Inventory
    vectors: MemoryVectors
    failed: FailureLog
    clock: Callable[[], float] = time.monotonic

    async def run(self) -> None:
        """Follow, for as long as it is awaited."""
        place, swept = 0, -REPAIR_INTERVAL_S
        self.vectors.behind = True
        while True:
            try:
                if self.clock() - swept >= REPAIR_INTERVAL_S or self.vectors.behind:
                    newest = await self.events.newest()
                    await VectorRepair(self.inventory, self.vectors)()
                    place, swept = max(place, newest), self.clock()
                place = await self.follow(place)
                self.vectors.behind = False
                await asyncio.sleep(POLL_INTERVAL_S)
            except Exception as error:
                self.vectors.behind = True
                self.failed("vectors of other processes", error)
                await asyncio.sleep(RETRY_INTERVAL_S)

    async def follow(self, place: int) -> int:
        """Take over what was written after an event.

        Args:
            place: the number of the last event that was followed.

        Returns:
            The number of the last one now.
        """
        while changed := await self.events.changed(place, PAGE_SIZE):
            ids = {id for _, id in changed if id}
            there = await self.inventory.records(ids)
            embedded = {id for id, record in there.items() if record.embedded}
            await VectorRepair(self.inventory, self.vectors).fill(embedded)
            for id in sorted(embedded):
                await self.vectors.hide_earlier(there[id])
            await self.vectors.take_out(ids - embedded)
            place = changed[-1][0]
        return place
