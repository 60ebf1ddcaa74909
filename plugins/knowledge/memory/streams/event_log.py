"""Reads events in order, each with the current state of its entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from gateway.contract import Database
from gateway.toolkit.sql import batches
from plugins.knowledge.memory.model.labels import READER
from plugins.knowledge.memory.store.tables import entries, events, labels
from plugins.knowledge.memory.streams.messages import EntryState, LoggedEvent


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events.

    Attributes:
        told: in their order.
        states: how it is with their entries, by id, later than any of them.
    """

    told: Sequence[LoggedEvent] = ()
    states: Mapping[str, EntryState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventLog:
    """The events that are kept.

    Attributes:
        database: the plugin's.
    """

    database: Database

    async def newest(self) -> int:
        """The number of the last event; 0 where there was none yet."""
        async with self.database.read() as connection:
            return int(await connection.scalar(sa.select(sa.func.max(events.c.number))) or 0)

    async def kept_after(self) -> int:
        """The number from which on every event is kept that may still be told.

        Upkeep removes the oldest; where none is left, the last one stays without its readers, for
        its number alone (``upkeep/purge.py``).
        """
        oldest = sa.select(events.c.number, events.c.readers).order_by(events.c.number).limit(1)
        async with self.database.read() as connection:
            row = (await connection.execute(oldest)).one_or_none()
        if row is None:
            return 0
        return int(row.number) - (1 if row.readers else 0)

    async def after(self, number: int, limit: int, upto: int | None = None) -> EventPage:
        """The events after a number.

        Args:
            number: of the last that is known.
            limit: how many at most.
            upto: the number of the last that is wanted; None for all.
        """
        # The type reads NULL and JSON alike, so the size says which it is.
        size = sa.func.coalesce(sa.func.length(sa.cast(events.c.body, sa.Text)), 0).label("size")
        wanted = sa.select(events, size).where(events.c.number > number)
        if upto is not None:
            wanted = wanted.where(events.c.number <= upto)
        wanted = wanted.order_by(events.c.number).limit(limit)
        async with self.database.read() as connection:
            rows = (await connection.execute(wanted)).all()
        told = [_event_of(row) for row in rows]
        return EventPage(told, await self._states({each.entry for each in told} - {""}))

    async def changed(self, number: int, limit: int) -> Sequence[tuple[int, str]]:
        """The numbers and the entries of the events after a number, without what they say.

        Args:
            number: of the last that is known.
            limit: how many at most.
        """
        wanted = sa.select(events.c.number, events.c.entry).where(events.c.number > number)
        async with self.database.read() as connection:
            rows = await connection.execute(wanted.order_by(events.c.number).limit(limit))
            return [(row.number, row.entry) for row in rows]

    async def _states(self, ids: set[str]) -> dict[str, EntryState]:
        own = sa.and_(labels.c.entry == entries.c.number, labels.c.label.startswith(READER))
        wanted = sa.select(
            entries.c.id, entries.c.agent, entries.c.deleted, entries.c.expires, labels.c.label
        ).select_from(entries.outerjoin(labels, own))
        found: dict[str, EntryState] = {}
        for some in batches(sorted(ids)):
            async with self.database.read() as connection:
                for row in await connection.execute(wanted.where(entries.c.id.in_(some))):
                    found[row.id] = _state_of(row, found.get(row.id))
        return found


def _event_of(row: Any) -> LoggedEvent:
    return LoggedEvent(
        number=row.number,
        kind=row.kind,
        entry=row.entry,
        layer=row.layer,
        readers=frozenset(row.readers),
        at=row.at,
        body=row.body,
        size=row.size,
    )


def _state_of(row: Any, known: EntryState | None) -> EntryState:
    """How it is with an entry, by its row and one of its readers."""
    may = frozenset() if row.label is None else frozenset({row.label.removeprefix(READER)})
    if known is not None:
        return replace(known, readers=known.readers | may)
    return EntryState(may, row.deleted is not None, row.expires, row.agent)
