"""Promotes entries out of working memory, in the process that holds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.record import UPKEEP, Record
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.upkeep.layer_moves import facts_of_record, relocated, target_layer
from plugins.knowledge.memory.write.entries import Entries


@dataclass(frozen=True, slots=True)
class WorkingMoves:
    """Moves entries from working memory to session memory.

    Attributes:
        entries: memory's stores.
    """

    entries: Entries

    async def __call__(self) -> int:
        """Promote what deserves it; how many entries that were.

        Raises:
            Exception: an entry could not be written; it stays, and the others were promoted.
        """
        now, promoted, guarded = self.entries.clock(), 0, self.entries.rules.layers
        failure: Exception | None = None
        for record in self.entries.working.everything():
            if target_layer(facts_of_record(record, now), guarded) is record.layer:
                continue
            try:
                promoted += await self._promote(record, now)
            except Exception as error:
                failure = error
        if failure is not None:
            raise failure
        return promoted

    async def _promote(self, record: Record, now: datetime) -> bool:
        # It is taken out first, so that it is never in two layers.
        working = self.entries.working
        if not working.take([record.id]):
            return False
        moved = relocated(record, Layer.SESSION, now, embeds=False)
        writes = self.entries.audited(AuditRecord(UPKEEP, "promote", record.id, "done"))
        try:
            told = await writes.add([moved], record.owner)
        except BaseException:
            working.put([record])
            raise
        self.entries.tell(told)
        return True
