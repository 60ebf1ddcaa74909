"""Settles what came to claim the same after it was written (README, "Conflicts")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.records import UPKEEP, Record
from plugins.knowledge.memory.settlement import Settlement, settlement
from plugins.knowledge.memory.store.audit import AuditLog, Deed
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.writing import Event, Writing
from plugins.knowledge.memory.vectors import MemoryVectors


@dataclass(frozen=True, slots=True)
class Settling:
    """Lets one entry stand of those that claim the same, each group in a transaction of its own.

    Attributes:
        inventory: what there is.
        writing: the database, to write.
        audit: the log of who did what.
        vectors: the vector store, or None where the portal has no model.
        clock: gives the time, with its zone.
        tell: hears what happened.
    """

    inventory: Inventory
    writing: Writing
    audit: AuditLog
    vectors: MemoryVectors | None
    clock: Callable[[], datetime]
    tell: Callable[[Sequence[Event]], None]

    async def __call__(self) -> dict[str, int]:
        """Settle every conflict; how many entries were replaced."""
        replaced = 0
        waits = await self.inventory.awaited()
        for group in await self.inventory.alike():
            if waits.isdisjoint(each.id for each in group):
                replaced += await self._settle(group)
        return {"replaced": replaced}

    async def _settle(self, group: Sequence[Record]) -> int:
        settled = settlement(group, self.clock())
        stands = settled.stands
        told = await self.writing.alongside(self._logged(settled)).settle(
            stands, stands.version - 1, settled.gone, UPKEEP, more_uses=settled.more_uses
        )
        if told is None:  # one of them was written meanwhile; the next pass looks again
            return 0
        self.tell(told)
        if self.vectors is not None:
            await self.vectors.follow([stands])
            await self.vectors.hide(settled.gone)
        return len(settled.gone)

    def _logged(self, settled: Settlement) -> Callable[[Any], Any]:
        gone = sorted(settled.gone)
        deeds = [Deed(UPKEEP, "replace", id, "done", settled.stands.id) for id in gone]

        async def alongside(connection: Any) -> None:
            await self.audit.added(connection, *deeds)

        return alongside
