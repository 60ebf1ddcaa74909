"""What was written a moment ago, of which a search may not have known yet."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Select

from gateway.contract import Database
from gateway.toolkit.sql import among_parameter
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.findable import Findable
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.tables import entries, events
from plugins.knowledge.memory.store.visibility import key_values, readable

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

VECTOR_LAG = timedelta(seconds=5)
"""How long the vectors of what another process wrote may be missing from this one's store."""
KNOWN_S = 1.0
"""How long the last event of this process is taken for the last of all: those that others wrote
meanwhile are looked at once more."""
LOOKED_BACK = 100
"""Events before a search among which what was written within that time is looked for."""
MAX_RECENT = 200
"""Entries that are looked at, the newest: everybody who writes waits meanwhile."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment at which a search began.

    Attributes:
        event: the number of the last event that was committed.
        since: when vectors may be missing of what was written since.
        place: how far entries had become findable by their vectors.
    """

    event: int
    since: datetime
    place: int


@dataclass(slots=True)
class Recent:
    """Finds what a search did not know of.

    Attributes:
        database: the plugin's.
        clock: gives the time, with its zone.
        findable: which entries vectors find; None where the portal has no model.
    """

    database: Database
    clock: Callable[[], datetime]
    findable: Findable | None
    _newest: tuple[float, int] = (-math.inf, 0)

    def know(self, event: int) -> None:
        """Take in the number of an event that this process has committed, and when it did."""
        self._newest = max(self._newest, (time.monotonic(), event))

    async def moment(self) -> Moment:
        """Now, before a search begins."""
        place = 0 if self.findable is None else self.findable.place
        at, newest = self._newest
        if time.monotonic() - at > KNOWN_S:
            async with self.database.read() as connection:
                newest = await connection.scalar(sa.select(sa.func.max(events.c.number))) or 0
        return Moment(int(newest), self.clock() - VECTOR_LAG, place)

    async def unknown_in(
        self, connection: AsyncConnection, begun: Moment, keys: frozenset[str], *, by_words: bool
    ) -> list[Record]:
        """The entries that a search did not know of, of those that one of the keys may read.

        Args:
            connection: of a transaction that holds the lock under which events are numbered, so
                that nothing is written beside it.
            begun: when the search began.
            keys: the caller's.
            by_words: whether the search was by words, which are found as soon as they are written.
        """
        back = 0 if by_words else LOOKED_BACK
        asked = {"first": begun.event - back, "known": begun.event, "since": begun.since}
        rows = await connection.execute(_written(), asked)
        ids = {row.id for row in rows if not self._was_found(row, begun)}
        if not ids or not keys:
            return []
        seen = {**key_values(keys, self.clock()), "ids": ids}
        return [record_of(row) for row in await connection.execute(_read(), seen)]

    def _was_found(self, row: Any, begun: Moment) -> bool:
        known = self.findable
        return known is not None and known.was(row.id, row.version, begun.place)


@lru_cache(maxsize=1)
def _written() -> Select[Any]:
    """The entries that were written since, with their versions: mostly none."""
    at = sa.bindparam("since", type_=events.c.at.type)
    of_late = sa.or_(events.c.number > sa.bindparam("known"), events.c.at >= at)
    which = (events.c.number > sa.bindparam("first"), of_late, events.c.kind != "deleted")
    joined = events.join(entries, entries.c.id == events.c.entry)
    chosen = sa.select(entries.c.id, entries.c.version).select_from(joined).where(*which)
    return chosen.order_by(events.c.number.desc()).limit(MAX_RECENT)


@lru_cache(maxsize=1)
def _read() -> Select[Any]:
    return sa.select(entries).where(among_parameter(entries.c.id, "ids"), readable())
