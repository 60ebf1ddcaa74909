"""Promotes what deserves it out of working memory, in the process that holds it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.records import UPKEEP, Record
from plugins.knowledge.memory.store.audit import AuditLog, Deed
from plugins.knowledge.memory.store.writing import Event, Writing
from plugins.knowledge.memory.upkeep.moving import belongs, placed, standing_of


@dataclass(frozen=True, slots=True)
class Pads:
    """Working memory's way up.

    Attributes:
        working: working memory.
        writing: the database, to write.
        audit: the log of who did what.
        guarded: layers into which only people let entries.
        clock: gives the time, with its zone.
        tell: hears what happened.
    """

    working: WorkingLayer
    writing: Writing
    audit: AuditLog
    guarded: Collection[Layer]
    clock: Callable[[], datetime]
    tell: Callable[[Sequence[Event]], None]

    async def __call__(self) -> int:
        """Promote what deserves it; how many that were.

        Raises:
            Exception: what cannot be written stays where it is, and the others were promoted.
        """
        now, promoted = self.clock(), 0
        failure: Exception | None = None
        for record in self.working.everything():
            if belongs(standing_of(record, now), self.guarded) is record.layer:
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
        if not self.working.take([record.id]):
            return False
        moved = placed(record, Layer.SESSION, now, embeds=False)

        async def alongside(connection: Any) -> None:
            await self.audit.added(connection, Deed(UPKEEP, "promote", record.id, "done"))

        try:
            told = await self.writing.alongside(alongside).add([moved], record.owner)
        except BaseException:
            self.working.put([record])
            raise
        self.tell(told)
        return True
