"""Writes entries: each change is one transaction with its words, labels, version and event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import batches, exclusive
from plugins.knowledge.memory.model.entry import LAYER_LIFETIMES
from plugins.knowledge.memory.model.outcomes import Change
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.validity import Verification
from plugins.knowledge.memory.store.chains import close_chains, hand_on
from plugins.knowledge.memory.store.ended_requests import (
    end_outdated_requests,
    end_requests_about,
)
from plugins.knowledge.memory.store.erasure import erase_entries
from plugins.knowledge.memory.store.inserts import insert_entries, insert_versions
from plugins.knowledge.memory.store.kept_vectors import KeptVectors
from plugins.knowledge.memory.store.rows import record_of, row_of
from plugins.knowledge.memory.store.search_rows import delete_search_rows, insert_search_rows
from plugins.knowledge.memory.store.tables import entries, events
from plugins.knowledge.memory.store.tombstones import insert_tombstone
from plugins.knowledge.memory.store.visibility import is_live

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.kept_vectors import Vector

NoticeKind = Literal[
    "batch_completed",
    "batch_failed",
    "approval_requested",
    "approval_decided",
    "review_asked",
]
"""What people are told of beside (``notices.py``)."""
_EVENT_LOCK = 0x706F7263_6D656D6F
"""The lock under which events are numbered; as it was before locks had names."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, to an entry or else.

    Attributes:
        number: its place in the order of all events.
        kind: what happened.
        record: the entry as it was then; None where that has been removed since, and of notices.
        readers: the keys that may know of it.
        at: when.
        entry: the entry's id; "" where it is about none.
    """

    number: int
    kind: Change | NoticeKind
    entry: str
    readers: frozenset[str]
    at: datetime
    record: Record | None


class Writes:
    """Writes what is remembered.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
        kept: where vectors are kept; needed where entries are written with vectors.
        alongside: see :meth:`alongside`.
        approved_by: likewise.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        kept: KeptVectors | None = None,
        alongside: Callable[[AsyncConnection], Awaitable[None]] | None = None,
        approved_by: str | None = None,
    ) -> None:
        self._database, self._clock = database, clock
        self._kept = kept or KeptVectors(database)
        self._alongside, self._approved_by = alongside, approved_by

    def alongside(
        self,
        once: Callable[[AsyncConnection], Awaitable[None]],
        approved_by: str | None = None,
    ) -> Writes:
        """The same, for one change: its first transaction does something else as well, or fails.

        Args:
            once: what, after all else that was given so; the entry is not written where it raises.
            approved_by: who allowed what is written, where that was not who writes.
        """

        async def both(connection: AsyncConnection) -> None:
            await self._once(connection)
            await once(connection)

        by = approved_by or self._approved_by
        return Writes(self._database, self._clock, self._kept, both, by)

    async def run(self) -> None:
        """Do only what is done alongside, in the order of all writes."""
        async with self._database.begin() as connection:
            await lock_event_order(connection)
            await self._once(connection)

    async def verify(self, id: str, version: int, verified: Verification) -> bool:
        """Write down that somebody looked whether an entry still holds.

        Returns:
            Whether it is still the version that they looked at.
        """
        own = (entries.c.id == id, entries.c.version == version, is_live(self._clock()))
        marked = sa.update(entries).where(*own).values(verified=verified.kept())
        async with self._database.begin() as connection:
            await self._once(connection)
            number = await connection.scalar(marked.returning(entries.c.number))
            return number is not None

    async def add(
        self,
        records: Sequence[Record],
        by: str,
        vectors: Mapping[str, Vector] | None = None,
        *,
        first: Callable[[AsyncConnection], Awaitable[None]] | None = None,
        once_there: Callable[[AsyncConnection], Awaitable[None]] | None = None,
    ) -> list[Event]:
        """Add new entries, all of them or none.

        Args:
            records: with ids of their own.
            by: the person who writes.
            vectors: their vectors, by their ids.
            first: what is looked at before anything is done; nothing is where it raises.
            once_there: what else is done in the transaction, once the entries are there.
        """
        async with self._database.begin() as connection:
            await lock_event_order(connection)
            if first is not None:
                await first(connection)
            await self._once(connection)
            await insert_entries(connection, records)
            await self._kept.write_in(connection, records, vectors or {})
            await insert_versions(connection, records, by, self._approved_by)
            if once_there is not None:
                await once_there(connection)
            return await _insert_events(connection, "created", records, self._clock())

    async def replace(
        self, record: Record, seen: int, by: str, vector: Vector | None = None
    ) -> Event | None:
        """Write a new version of an entry; what was counted of its uses meanwhile stays.

        Args:
            record: the entry as it is to be, with its new version.
            seen: the version that it replaces.
            by: the person who writes.
            vector: its new vector; where its text is the same, the kept one stays without it.

        Returns:
            What happened, or None where another version was written meanwhile, or the entry is
            gone; nothing is written then.
        """
        async with self._database.begin() as connection:
            await lock_event_order(connection)
            if not await self._replaced(connection, record, seen, by, vector):
                return None
            await self._once(connection)
            await end_outdated_requests(connection, record, self._clock())
            (event,) = await _insert_events(connection, "updated", [record], self._clock())
            return event

    async def deduplicate(
        self,
        winner: Record,
        seen: int | None,
        gone: Mapping[str, int],
        by: str,
        vector: Vector | None = None,
        more_uses: int = 0,
    ) -> list[Event] | None:
        """Let one entry stand in place of others, in one transaction.

        Args:
            winner: the entry as it is to be.
            seen: the version that it replaces, or None where it is a new entry.
            gone: the entries that it replaces, by their ids, each with the version that was seen.
            by: the person who writes.
            vector: its vector, as in :meth:`replace`.
            more_uses: those of the others, which count as its own.

        Returns:
            What happened, or None where another version of one of them was written meanwhile;
            nothing is written then.
        """
        try:
            async with self._database.begin() as connection:
                await lock_event_order(connection)
                if seen is None:
                    await insert_entries(connection, [winner])
                    given = {} if vector is None else {winner.id: vector}
                    await self._kept.write_in(connection, [winner], given)
                    await insert_versions(connection, [winner], by, self._approved_by)
                elif not await self._replaced(connection, winner, seen, by, vector, more_uses):
                    raise _Outdated
                removed = await self._taken_out(connection, gone, gone)
                if len(removed) != len(gone):
                    raise _Outdated
                await hand_on(connection, gone, winner.id)
                await self._once(connection)
                kind: Change = "created" if seen is None else "updated"
                now = self._clock()
                told = await _insert_events(connection, kind, [winner], now)
                return told + await _insert_events(connection, "deleted", removed, now)
        except _Outdated:
            return None

    async def _replaced(
        self,
        connection: AsyncConnection,
        record: Record,
        seen: int,
        by: str,
        vector: Vector | None,
        more_uses: int = 0,
    ) -> bool:
        """Write a version in place of the one that was seen; false where that is not current."""
        values = {**row_of(record), "uses": entries.c.uses + more_uses}
        values["used"] = sa.case(
            (entries.c.used > record.used, entries.c.used),
            else_=sa.literal(record.used, entries.c.used.type),
        )
        number = await connection.scalar(
            sa.update(entries)
            .where(entries.c.id == record.id, entries.c.version == seen, is_live(self._clock()))
            .values(values)
            .returning(entries.c.number)
        )
        if number is None:
            return False
        await insert_tombstone(connection, number, record, self._clock())
        await delete_search_rows(connection, [number])
        await insert_search_rows(connection, [(number, record)])
        given = {} if vector is None else {record.id: vector}
        await self._kept.write_in(connection, [record], given)
        await insert_versions(connection, [record], by, self._approved_by)
        return True

    async def forget(self, ids: Collection[str]) -> list[Event]:
        """Take entries out of everything that is read; their rows and versions stay.

        The requests about them end.
        """
        async with self._database.begin() as connection:
            return await self._forget(connection, ids)

    async def erase(self, ids: Collection[str]) -> list[Event]:
        """Remove entries for good: versions, and what events and requests said of them, too."""
        async with self._database.begin() as connection:
            told = await self._forget(connection, ids)
            await self._once(connection)  # also where all of them were forgotten before
            await erase_entries(connection, self._kept, ids)
        return told

    async def _forget(self, connection: AsyncConnection, ids: Collection[str]) -> list[Event]:
        await lock_event_order(connection)
        removed = await self._taken_out(connection, ids)
        if removed:
            await self._once(connection)
            await close_chains(connection, removed, self._clock())
        await end_requests_about(connection, ids, self._clock())
        return await _insert_events(connection, "deleted", removed, self._clock())

    async def _taken_out(
        self,
        connection: AsyncConnection,
        ids: Collection[str],
        seen: Mapping[str, int] | None = None,
    ) -> list[Record]:
        """Mark entries as removed; where versions are named, only those of that version."""
        now = self._clock()
        gone: list[Any] = []
        for some in batches(sorted(ids)):
            which = [entries.c.id.in_(some), is_live(now)]
            if seen is not None:
                pair = sa.tuple_(entries.c.id, entries.c.version)
                which.append(pair.in_([(id, seen[id]) for id in some]))
            marked = sa.update(entries).where(*which).values(deleted=now).returning(*entries.c)
            gone += (await connection.execute(marked)).all()
        await delete_search_rows(connection, [row.number for row in gone])
        return [record_of(row) for row in gone]

    async def _once(self, connection: AsyncConnection) -> None:
        """Do what was to be done alongside the first change."""
        once, self._alongside = self._alongside, None
        if once is not None:
            await once(connection)

    async def change_owner(self, id: str, owner: str) -> Record | None:
        """Make an entry another one's, also one that is forgotten; nobody is told.

        Returns:
            The entry as it is now, or None where there is none to be found any more.
        """
        async with self._database.begin() as connection:
            row = (
                await connection.execute(
                    sa.update(entries)
                    .where(entries.c.id == id)
                    .values(owner=owner)
                    .returning(*entries.c)
                )
            ).one_or_none()
            if row is None:
                return None
            record = record_of(row)
            await delete_search_rows(connection, [row.number])
            if row.deleted is None:
                await insert_search_rows(connection, [(row.number, record)])
            return record if row.deleted is None else None

    async def used(self, uses: Mapping[str, int]) -> None:
        """Count how often entries were answers, or were read, by their ids.

        What its layer keeps for a time only is kept for that time anew.
        """
        now = self._clock()
        lives = {
            str(layer): sa.literal(now + life, entries.c.expires.type)
            for layer, life in LAYER_LIFETIMES.items()
        }
        counted = (
            sa.update(entries)
            .where(entries.c.id == sa.bindparam("entry"), is_live(now))
            .values(
                uses=entries.c.uses + sa.bindparam("more"),
                used=now,
                expires=sa.case(lives, value=entries.c.layer, else_=entries.c.expires),
            )
        )
        async with self._database.begin() as connection:
            await connection.execute(
                counted, [{"entry": id, "more": more} for id, more in sorted(uses.items())]
            )


class _Outdated(Exception):
    """Another version was written meanwhile: the transaction is given up."""


async def _insert_events(
    connection: AsyncConnection, kind: Change, records: Sequence[Record], at: datetime
) -> list[Event]:
    told = []
    for each in records:
        number = await connection.scalar(
            sa.insert(events)
            .values(
                kind=kind,
                entry=each.id,
                layer=str(each.layer),
                readers=sorted(each.readers),
                at=at,
                body=each.entry().model_dump(mode="json", exclude_none=True),
            )
            .returning(events.c.number)
        )
        told.append(Event(int(number or 0), kind, each.id, each.readers, at, each))
    return told


async def lock_event_order(connection: AsyncConnection) -> None:
    """Let no other transaction number an event until this one ends.

    Who follows events asks for those after the last: none may appear before it later. It comes
    before the first row that is changed, so that two transactions never wait for each other.
    """
    await exclusive(connection, _EVENT_LOCK)
