"""Notices: events that are not about the content of entries, such as the end of a batch.

A notice is a row among the events, so that followers get both in one order. It has readers as an
entry has, and names only ids: who receives it asks for the rest, and is shown what they may see
then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.knowledge.memory.store.tables import events
from plugins.knowledge.memory.store.writes import Event, NoticeKind, lock_event_order


class Notices:
    """Writes notices.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
        tell: hears of each once it is written.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        tell: Callable[[Sequence[Event]], None],
    ) -> None:
        self._database, self._clock, self._tell = database, clock, tell

    def with_listener(self, tell: Callable[[Sequence[Event]], None]) -> Notices:
        """The same, where somebody else hears of each."""
        return Notices(self._database, self._clock, tell)

    async def add(
        self, readers: Collection[str], kind: NoticeKind, body: Mapping[str, Any], entry: str = ""
    ) -> None:
        """Tell some people of something; where there is nobody to tell, nothing is written.

        Args:
            readers: the keys whose holders are told; any one is enough (``rights/access.py``).
            kind: what happened.
            body: JSON values that say more: ids, and never what an entry says.
            entry: the id of the entry that it is about; with that one its body is erased.
        """
        if readers:
            async with self._database.begin() as connection:
                event = await self.add_in(connection, readers, kind, body, entry)
            self._tell([event])

    async def add_in(
        self,
        connection: AsyncConnection,
        readers: Collection[str],
        kind: NoticeKind,
        body: Mapping[str, Any],
        entry: str = "",
    ) -> Event:
        """The same, in the transaction of what it tells of; whoever commits it tells of it."""
        await lock_event_order(connection)
        at = self._clock()
        number = await connection.scalar(
            sa.insert(events)
            .values(
                kind=kind, entry=entry, layer="", readers=sorted(readers), at=at, body=dict(body)
            )
            .returning(events.c.number)
        )
        return Event(int(number or 0), kind, entry, frozenset(readers), at, None)
