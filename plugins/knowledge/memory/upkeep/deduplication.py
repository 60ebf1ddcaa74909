"""Keeps one of entries that came to say the same after they were written (README, "Duplicates")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.knowledge.memory.algorithms.deduplication import deduplicate
from plugins.knowledge.memory.model.record import UPKEEP, Record
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.write.entries import Entries


@dataclass(frozen=True, slots=True)
class Deduplication:
    """Keeps one entry of each group that says the same; each group in its own transaction.

    Attributes:
        inventory: all entries, whoever may read them.
        entries: memory's stores.
    """

    inventory: Inventory
    entries: Entries

    async def __call__(self) -> dict[str, int]:
        """Keep one of each group; how many entries were replaced."""
        replaced = 0
        waits = await self.inventory.awaiting_approval()
        for group in await self.inventory.duplicates():
            if waits.isdisjoint(each.id for each in group):
                replaced += await self._keep_one(group)
        return {"replaced": replaced}

    async def _keep_one(self, group: Sequence[Record]) -> int:
        made, vectors = deduplicate(group, self.entries.clock()), self.entries.vectors
        winner, gone = made.winner, made.gone
        lines = [AuditRecord(UPKEEP, "replace", id, "done", winner.id) for id in sorted(gone)]
        told = await self.entries.audited(*lines).deduplicate(
            winner, winner.version - 1, gone, UPKEEP, more_uses=made.more_uses
        )
        if told is None:  # one of them was written meanwhile; the next pass looks again
            return 0
        self.entries.tell(told)
        if vectors is not None:
            await vectors.follow([winner])
            await vectors.hide(gone)
        return len(gone)
