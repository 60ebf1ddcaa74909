"""Moves entries to the layer that they belong in by now (README, "Promotion")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from plugins.knowledge.memory.drafting import LIVES
from plugins.knowledge.memory.entries import OWN, PRIVATE, Layer
from plugins.knowledge.memory.layers.stored import WITH_VECTORS
from plugins.knowledge.memory.promotion import ARCHIVED, NEXT, Standing, destination
from plugins.knowledge.memory.records import UPKEEP, Record
from plugins.knowledge.memory.store.audit import AuditLog, Deed
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.store.writing import Event, Writing
from plugins.knowledge.memory.vectors import MemoryVectors

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Moving:
    """Moves entries of the database, each in a transaction of its own.

    Attributes:
        inventory: what there is.
        writing: writes the next version of an entry.
        audit: the log of who did what.
        vectors: the vector store, or None where the portal has no model.
        guarded: layers into which only people let entries; nothing moves there by itself.
        clock: gives the time, with its zone.
        tell: hears what happened.
    """

    inventory: Inventory
    writing: Writing
    audit: AuditLog
    vectors: MemoryVectors | None
    guarded: Collection[Layer]
    clock: Callable[[], datetime]
    tell: Callable[[Sequence[Event]], None]

    async def __call__(self) -> dict[str, int]:
        """Move whatever belongs elsewhere.

        Returns:
            How many were promoted, and how many put away.
        """
        counted = {"promoted": 0, "archived": 0}
        waits = await self.inventory.awaited()
        layers = (ARCHIVED | NEXT.keys()) - {Layer.WORKING}
        async for page in self.inventory.pages(layers):
            now = self.clock()
            moves = {row.id: belongs(standing(row, now), self.guarded) for row in page}
            going = {row.id for row in page if moves[row.id] != row.layer} - waits
            for record in (await self.inventory.records(going)).values():
                if await self._move(record):
                    away = moves[record.id] is Layer.ARCHIVAL
                    counted["archived" if away else "promoted"] += 1
        return counted

    async def _move(self, record: Record) -> bool:
        """Move an entry; false where it was written meanwhile, and the next pass looks again."""
        now = self.clock()
        to = belongs(standing_of(record, now), self.guarded)
        if to is record.layer:
            return False
        moved = placed(record, to, now, embeds=self.vectors is not None)
        deed = Deed(UPKEEP, "archive" if to is Layer.ARCHIVAL else "promote", record.id, "done")

        async def alongside(connection: Any) -> None:
            await self.audit.added(connection, deed)

        writing = self.writing.alongside(alongside)
        event = await writing.replace(moved, record.version, UPKEEP)
        if event is None:
            return False
        self.tell([event])
        if self.vectors is not None and moved.embedded:
            await self.vectors.follow([moved])
        return True


def placed(record: Record, to: Layer, now: datetime, *, embeds: bool) -> Record:
    """An entry as it is in another layer: its next version, with the same id.

    What leaves a layer that is its owner's alone is private, until they say otherwise: nobody
    had to agree that others read it.

    Args:
        record: the entry as it is.
        to: where it goes.
        now: the time.
        embeds: whether the portal has a model; upkeep makes the vector that its layer wants.
    """
    life = LIVES.get(to)
    return replace(
        record,
        layer=to,
        version=record.version + 1,
        placed=now,
        access=PRIVATE if record.layer in OWN else record.access,
        expires=None if life is None else now + life,
        embedded=record.embedded or (embeds and to in WITH_VECTORS),
    )


def belongs(entry: Standing, guarded: Collection[Layer]) -> Layer:
    """The layer an entry belongs in, of those that it may come to by itself."""
    to = destination(entry)
    return entry.layer if to in guarded else to


def standing_of(record: Record, now: datetime) -> Standing:
    """What decides an entry's layer."""
    said = record.metadata
    return Standing(
        layer=record.layer,
        importance=said.importance,
        confidence=said.confidence,
        uses=record.uses,
        age=(now - record.placed) / _DAY,
        idle=(now - max(record.used, record.changed)) / _DAY,
    )


def standing(row: Any, now: datetime) -> Standing:
    """The same, of a row of the inventory."""
    return Standing(
        layer=Layer(row.layer),
        importance=row.metadata.get("importance"),
        confidence=row.metadata.get("confidence"),
        uses=row.uses,
        age=(now - row.placed) / _DAY,
        idle=(now - max(row.used, row.updated or row.created)) / _DAY,
    )
