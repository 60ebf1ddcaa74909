"""Moves entries to the layer that they belong in (README, "Promotion")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from plugins.knowledge.memory.algorithms.promotion import (
    ARCHIVABLE_LAYERS,
    NEXT_LAYER,
    LayerFacts,
    destination,
)
from plugins.knowledge.memory.model.entry import (
    LAYER_LIFETIMES,
    LAYERS_WITH_VECTORS,
    OWNER_ONLY_LAYERS,
    Layer,
)
from plugins.knowledge.memory.model.policy import PRIVATE
from plugins.knowledge.memory.model.record import UPKEEP, Record
from plugins.knowledge.memory.store.audit import AuditRecord
from plugins.knowledge.memory.store.inventory import Inventory
from plugins.knowledge.memory.write.entries import Entries

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class LayerMoves:
    """Moves entries of the database, each in a transaction of its own.

    Attributes:
        inventory: all entries, whoever may read them.
        entries: memory's stores.
    """

    inventory: Inventory
    entries: Entries

    async def __call__(self) -> dict[str, int]:
        """Move whatever belongs elsewhere.

        Returns:
            How many were promoted, and how many put away.
        """
        counted = {"promoted": 0, "archived": 0}
        guarded, waits = self.entries.rules.layers, await self.inventory.awaiting_approval()
        layers = (ARCHIVABLE_LAYERS | NEXT_LAYER.keys()) - {Layer.WORKING}
        async for page in self.inventory.pages(layers):
            now = self.entries.clock()
            moves = {row.id: target_layer(facts_of_row(row, now), guarded) for row in page}
            going = {row.id for row in page if moves[row.id] != row.layer} - waits
            for record in (await self.inventory.records(going)).values():
                if await self._move(record):
                    away = moves[record.id] is Layer.ARCHIVAL
                    counted["archived" if away else "promoted"] += 1
        return counted

    async def _move(self, record: Record) -> bool:
        """Move an entry; false where it was written meanwhile, and the next pass looks again."""
        now, vectors = self.entries.clock(), self.entries.vectors
        to = target_layer(facts_of_record(record, now), self.entries.rules.layers)
        if to is record.layer:
            return False
        moved = relocated(record, to, now, embeds=vectors is not None)
        operation = "archive" if to is Layer.ARCHIVAL else "promote"
        writes = self.entries.audited(AuditRecord(UPKEEP, operation, record.id, "done"))
        event = await writes.replace(moved, record.version, UPKEEP)
        if event is None:
            return False
        self.entries.tell([event])
        if vectors is not None and moved.embedded:
            await vectors.follow([moved])
        return True


def relocated(record: Record, to: Layer, now: datetime, *, embeds: bool) -> Record:
    """An entry as it is in another layer: its next version, with the same id.

    What leaves a layer that is its owner's alone is private, until they say otherwise: nobody
    had to agree that others read it.

    Args:
        record: the entry as it is.
        to: where it goes.
        now: the time.
        embeds: whether the portal has a model; upkeep makes the vector that its layer wants.
    """
    life = LAYER_LIFETIMES.get(to)
    return replace(
        record,
        layer=to,
        version=record.version + 1,
        placed=now,
        access=PRIVATE if record.layer in OWNER_ONLY_LAYERS else record.access,
        expires=None if life is None else now + life,
        embedded=record.embedded or (embeds and to in LAYERS_WITH_VECTORS),
    )


def target_layer(entry: LayerFacts, guarded: Collection[Layer]) -> Layer:
    """The layer an entry belongs in, of those that it may come to by itself."""
    to = destination(entry)
    return entry.layer if to in guarded else to


def facts_of_record(record: Record, now: datetime) -> LayerFacts:
    """What decides an entry's layer."""
    return _facts(record, dict(record.metadata), record.changed, now)


def facts_of_row(row: Any, now: datetime) -> LayerFacts:
    """The same, of a row of the inventory."""
    return _facts(row, row.metadata, row.updated or row.created, now)


def _facts(entry: Any, said: Mapping[str, Any], changed: datetime, now: datetime) -> LayerFacts:
    return LayerFacts(
        layer=Layer(entry.layer),
        importance=said.get("importance"),
        confidence=said.get("confidence"),
        uses=entry.uses,
        age=(now - entry.placed) / _DAY,
        idle=(now - max(entry.used, changed)) / _DAY,
    )
