"""Working memory whose changes can be undone, since no transaction covers it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.model.record import Record


class UndoableWorkingLayer(WorkingLayer):
    """Working memory that remembers what each change replaced.

    Args:
        over: working memory.
    """

    def __init__(self, over: WorkingLayer) -> None:
        self._over = over
        self._before: dict[str, Record | None] = {}

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """As ``WorkingLayer.read``."""
        return await self._over.read(ids, keys)

    def holds(self, id: str) -> bool:
        """As ``WorkingLayer.holds``."""
        return self._over.holds(id)

    def duplicates_of(self, record: Record, now: datetime) -> list[Record]:
        """As ``WorkingLayer.duplicates_of``."""
        return self._over.duplicates_of(record, now)

    def put(self, records: Iterable[Record]) -> None:
        """As ``WorkingLayer.put``."""
        for record in records:
            self.take([record.id])
            self._before.setdefault(record.id, None)
            self._over.put([record])

    def take(self, ids: Iterable[str]) -> list[Record]:
        """As ``WorkingLayer.take``."""
        taken = self._over.take(ids)
        for record in taken:
            self._before.setdefault(record.id, record)
        return taken

    def revoke(self) -> None:
        """Put everything back as it was."""
        self._over.take(self._before)
        self._over.put(record for record in self._before.values() if record is not None)
        self._before.clear()
