"""Puts the parts of the upkeep together, in the order in which a pass does them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.contract import Database
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.keeping import Keeping
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.upkeep.moving import Moving
from plugins.knowledge.memory.upkeep.pads import Pads
from plugins.knowledge.memory.upkeep.purging import TOLD, Purging
from plugins.knowledge.memory.upkeep.settling import Settling
from plugins.knowledge.memory.upkeep.sweeping import Sweeping
from plugins.knowledge.memory.upkeep.upkeep import Part, Upkeep

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


def upkeep_over(
    keep: Keeping,
    database: Database,
    guarded: Collection[Layer],
    purge_batches: Callable[[datetime], Awaitable[int]],
    log: FilteringBoundLogger,
    schedule: str,
) -> Upkeep:
    """The upkeep of a memory.

    Args:
        keep: its stores.
        database: the plugin's database.
        guarded: layers into which only people let entries.
        purge_batches: forgets the batches that were sent before a moment.
        log: for the admin.
        schedule: when there is a pass, as a cron expression in UTC.
    """
    clock, vectors = keep.clock, keep.vectors
    inventory = Inventory(database, clock)
    writing, audit = keep.writing, keep.audit
    purging = Purging(database, audit, vectors, clock)

    async def batches() -> dict[str, int]:
        return {"batches": await purge_batches(clock() - TOLD)}

    parts: dict[str, Part] = {
        "move": Moving(inventory, writing, audit, vectors, guarded, clock, keep.tell),
        "settle": Settling(inventory, writing, audit, vectors, clock, keep.tell),
        "entries": purging.entries,
        "events": purging.events,
        "requests": purging.requests,
        "batches": batches,
    }
    if vectors is not None:
        parts["sweep"] = Sweeping(inventory, vectors)
    pads = Pads(keep.working, writing, audit, guarded, clock, keep.tell)
    return Upkeep(parts, pads, log, schedule)
