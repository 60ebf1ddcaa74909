"""Promotes what deserves it out of working memory, in the process that holds it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.store.audit import AuditLog, Deed
from plugins.knowledge.memory.store.writing import Event, Writing
from plugins.knowledge.memory.upkeep.moving import UPKEEP, belongs, placed, standing_of


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
        """Promote what deserves it; how many that were."""
        now, promoted = self.clock(), 0
        for record in self.working.everything():
            to = belongs(standing_of(record, now), self.guarded)
            # It is taken out first, so that it is never in two layers.
            if to is record.layer or not self.working.take([record.id]):
                continue
            moved = placed(record, to, now, embeds=False)
            deed = Deed(UPKEEP, "promote", record.id, "done")

            async def alongside(connection: Any, deed: Deed = deed) -> None:
                await self.audit.added(connection, deed)

            try:
                told = await self.writing.alongside(alongside).add([moved], record.owner)
            except BaseException:
                self.working.put([record])
                raise
            self.tell(told)
            promoted += 1
        return promoted
