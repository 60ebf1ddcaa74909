"""Builds the upkeep: its parts, in the order in which a pass runs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING

from gateway.contract import Database
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.notices import Notices
from plugins.knowledge.memory.store.review_requests import ReviewRequests
from plugins.knowledge.memory.upkeep.deduplication import Deduplication
from plugins.knowledge.memory.upkeep.layer_moves import LayerMoves
from plugins.knowledge.memory.upkeep.purge import EVENT_RETENTION, Purge
from plugins.knowledge.memory.upkeep.review_notices import ReviewNotices
from plugins.knowledge.memory.upkeep.upkeep import Part, Upkeep
from plugins.knowledge.memory.upkeep.vector_repair import VectorRepair
from plugins.knowledge.memory.upkeep.working_moves import WorkingMoves
from plugins.knowledge.memory.write.entries import Entries
from plugins.knowledge.standing import Standings

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger


def build_upkeep(
    entries: Entries,
    database: Database,
    look_after_batches: Callable[[datetime], Awaitable[int]],
    log: FilteringBoundLogger,
    schedule: str,
    documents: Standings,
) -> Upkeep:
    """The upkeep of a memory.

    Args:
        entries: its stores.
        database: the plugin's database.
        look_after_batches: forgets the batches that were sent before a moment, and queues those
            again that stand still.
        log: for the admin.
        schedule: when there is a pass, as a cron expression in UTC.
        documents: which documents of the knowledge base want a look.
    """
    inventory = Inventory(database, entries.clock)
    purge = Purge(entries, database)

    async def batches() -> dict[str, int]:
        return {"batches": await look_after_batches(entries.clock() - EVENT_RETENTION)}

    parts: dict[str, Part] = {
        "move": LayerMoves(inventory, entries),
        "deduplicate": Deduplication(inventory, entries),
        "entries": purge.expired,
        "events": purge.events,
        "requests": purge.requests,
        "batches": batches,
        "reviews": ReviewNotices(
            documents,
            ReviewRequests(database),
            Notices(database, entries.clock, entries.tell),
            entries,
        ),
    }
    if entries.vectors is not None:
        parts["sweep"] = VectorRepair(inventory, entries.vectors)
    return Upkeep(parts, WorkingMoves(entries), log, schedule)
