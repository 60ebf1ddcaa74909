"""All entries, regardless of who may read them: for upkeep only, which shows them to nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from gateway.contract import Database
from gateway.toolkit.sql import batches
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.tables import approvals, entries
from plugins.knowledge.memory.store.visibility import is_live, known_to_owner, unmarked

PAGE_SIZE = 200
"""Entries that are looked at together; between two pages others have their turn."""


class Inventory:
    """All entries that are neither forgotten nor expired.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    def pages(self, layers: Collection[Layer]) -> AsyncIterator[Sequence[Any]]:
        """What decides the layer of entries: rows without contents, in portions."""
        names = ("number", "id", "layer", "metadata", "uses", "used", "placed", "created")
        columns = [entries.c[name] for name in (*names, "updated")]
        return self._pages(sa.select(*columns).where(entries.c.layer.in_(sorted(layers))))

    def embedded(self, longer_than: int = -1) -> AsyncIterator[Sequence[Any]]:
        """All entries that are to have a vector: rows of ``number`` and ``id``, in portions.

        Args:
            longer_than: how many characters they have more than.
        """
        chosen = sa.select(entries.c.number, entries.c.id).where(entries.c.embedded)
        if longer_than >= 0:
            chosen = chosen.where(sa.func.length(entries.c.content) > longer_than)
        return self._pages(chosen)

    async def records(self, ids: Collection[str]) -> dict[str, Record]:
        """Entries by their ids, as they are now."""
        found: dict[str, Record] = {}
        for some in batches(sorted(ids)):
            chosen = sa.select(entries).where(entries.c.id.in_(some), is_live(self._clock()))
            found |= {row.id: record_of(row) for row in await self._rows(chosen)}
        return found

    async def awaiting_approval(self) -> frozenset[str]:
        """The ids of entries about which a request waits: nothing is to change under it."""
        chosen = sa.select(approvals.c.entry).where(approvals.c.state == "pending").distinct()
        return frozenset(row.entry for row in await self._rows(chosen))

    async def duplicates(self) -> list[list[Record]]:
        """Entries that claim the same: groups of at least two (README, "Duplicates")."""
        by = (entries.c.owner, entries.c.layer, entries.c.fingerprint)
        now = self._clock()
        which = (is_live(now), unmarked(known_to_owner(now)))
        chosen = sa.select(*by).where(*which).group_by(*by)
        found: list[list[Record]] = []
        for row in await self._rows(chosen.having(sa.func.count() > 1)):
            same = [column == value for column, value in zip(by, row, strict=True)]
            whole = sa.select(entries).where(*same, *which).order_by(entries.c.number)
            groups: dict[tuple[Any, ...], list[Record]] = {}
            for record in map(record_of, await self._rows(whole)):
                times = record.validity
                event = times.event_at if record.layer is Layer.EPISODIC else None
                agent = record.agent if record.layer is Layer.SESSION else None
                said = record.readers, agent, record.follows
                alike = *said, event, times.valid_from, times.valid_until
                groups.setdefault(alike, []).append(record)
            found += [group for group in groups.values() if len(group) > 1]
        return found

    async def current(self, points: Collection[tuple[str, int]]) -> dict[tuple[str, int], Any]:
        """Which versions of entries are current and are to have a vector.

        Args:
            points: ids of entries and their versions.

        Returns:
            Of those the ``number`` and the ``layer``.
        """
        shown = (entries.c.id, entries.c.version, entries.c.number, entries.c.layer)
        found: dict[tuple[str, int], Any] = {}
        for some in batches(sorted({id for id, _ in points})):
            chosen = sa.select(*shown).where(
                entries.c.id.in_(some), entries.c.embedded, is_live(self._clock())
            )
            found |= {(row.id, row.version): row for row in await self._rows(chosen)}
        return {point: found[point] for point in points if point in found}

    async def _pages(self, chosen: Any) -> AsyncIterator[Sequence[Any]]:
        last = -1
        while True:
            some = chosen.where(entries.c.number > last, is_live(self._clock()))
            rows = await self._rows(some.order_by(entries.c.number).limit(PAGE_SIZE))
            if not rows:
                return
            yield rows
            last = rows[-1].number

    async def _rows(self, chosen: Any) -> Sequence[Any]:
        async with self._database.read() as connection:
            return (await connection.execute(chosen)).all()
