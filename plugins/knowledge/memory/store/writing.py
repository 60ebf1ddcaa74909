"""Writes entries: each change is one transaction with its words, labels, version and event."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from gateway.contract import Database
from plugins.knowledge.memory.labels import labels
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.store.readable import there
from plugins.knowledge.memory.store.reading import parts
from plugins.knowledge.memory.store.rows import record_of, row_of
from plugins.knowledge.memory.store.words import weights

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

Kind = Literal["created", "updated", "deleted"]
"""What happens to entries."""
NoticeKind = Literal["batch_completed", "batch_failed", "approval_requested", "approval_decided"]
"""What people are told of beside (``notices.py``)."""
_EVENTS = 0x706F7263_6D656D6F
"""The advisory lock under which PostgreSQL numbers events."""


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
    kind: Kind | NoticeKind
    entry: str
    readers: frozenset[str]
    at: datetime
    record: Record | None


class Writing:
    """Writes what is remembered.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
        alongside: see :meth:`alongside`.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], datetime],
        alongside: Callable[[AsyncConnection], Awaitable[None]] | None = None,
    ) -> None:
        self._database, self._clock = database, clock
        self._alongside = alongside

    def alongside(self, once: Callable[[AsyncConnection], Awaitable[None]]) -> Writing:
        """The same, for one change: its first transaction does something else as well, or fails.

        Args:
            once: what; the entry is not written where it raises.
        """
        return Writing(self._database, self._clock, once)

    async def add(self, records: Sequence[Record], by: str) -> list[Event]:
        """Add new entries, all of them or none.

        Args:
            records: with ids of their own.
            by: the person who writes.
        """
        async with self._database.begin() as connection:
            await in_turn(connection)
            await self._once(connection)
            await _insert(connection, records)
            await _keep_versions(connection, records, by)
            return await _tell(connection, "created", records, self._clock())

    async def replace(self, record: Record, seen: int, by: str) -> Event | None:
        """Write a new version of an entry.

        Args:
            record: the entry as it is to be, with its new version.
            seen: the version that it replaces.
            by: the person who writes.

        Returns:
            What happened, or None where another version was written meanwhile, or the entry is
            gone; nothing is written then.
        """
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries

        async with self._database.begin() as connection:
            await in_turn(connection)
            number = await connection.scalar(
                sa.update(entries)
                .where(entries.c.id == record.id, entries.c.version == seen, there(self._clock()))
                .values(row_of(record))
                .returning(entries.c.number)
            )
            if number is None:
                return None
            await _unfindable(connection, [number])
            await _findable(connection, [(number, record)])
            await _keep_versions(connection, [record], by)
            await self._once(connection)
            (event,) = await _tell(connection, "updated", [record], self._clock())
            return event

    async def forget(self, ids: Collection[str]) -> list[Event]:
        """Take entries out of everything that is read; their rows and versions stay."""
        async with self._database.begin() as connection:
            return await self._forget(connection, ids)

    async def erase(self, ids: Collection[str]) -> list[Event]:
        """Remove entries for good: versions, and what events and requests said of them, too."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store import tables

        async with self._database.begin() as connection:
            told = await self._forget(connection, ids)
            for some in parts(sorted(ids)):
                rows = await connection.execute(
                    sa.delete(tables.entries)
                    .where(tables.entries.c.id.in_(some))
                    .returning(tables.entries.c.number)
                )
                await _unfindable(connection, list(rows.scalars()))
                versions = tables.versions
                await connection.execute(sa.delete(versions).where(versions.c.entry.in_(some)))
                events = sa.update(tables.events).where(tables.events.c.entry.in_(some))
                await connection.execute(events.values(body=None))
                approvals = tables.approvals
                await connection.execute(
                    sa.update(approvals)
                    .where(approvals.c.entry.in_(some), approvals.c.state == "pending")
                    .values(payload=sa.null(), reason=None, state="failed")
                )
        return told

    async def _forget(self, connection: AsyncConnection, ids: Collection[str]) -> list[Event]:
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries

        await in_turn(connection)
        now = self._clock()
        gone: list[Any] = []
        for some in parts(sorted(ids)):
            rows = await connection.execute(
                sa.update(entries)
                .where(entries.c.id.in_(some), there(now))
                .values(deleted=now)
                .returning(*entries.c)
            )
            gone += rows.all()
        await _unfindable(connection, [row.number for row in gone])
        if gone:
            await self._once(connection)
        return await _tell(connection, "deleted", [record_of(row) for row in gone], now)

    async def _once(self, connection: AsyncConnection) -> None:
        """Do what was to be done alongside the first change."""
        once, self._alongside = self._alongside, None
        if once is not None:
            await once(connection)

    async def hand_over(self, id: str, owner: str) -> Record | None:
        """Make an entry another one's, also one that is forgotten; nobody is told.

        Returns:
            The entry as it is now, or None where there is none.
        """
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries, events

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
            await _unfindable(connection, [row.number])
            if row.deleted is None:
                await _findable(connection, [(row.number, record)])
            told = sa.update(events).where(events.c.entry == id)
            await connection.execute(told.values(readers=sorted(record.readers)))
            return record

    async def used(self, uses: Mapping[str, int]) -> None:
        """Count how often entries were answers, or were read, by their ids."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries

        counted = (
            sa.update(entries)
            .where(entries.c.id == sa.bindparam("entry"))
            .values(uses=entries.c.uses + sa.bindparam("more"), used=self._clock())
        )
        async with self._database.begin() as connection:
            await connection.execute(
                counted, [{"entry": id, "more": more} for id, more in sorted(uses.items())]
            )


async def _insert(connection: AsyncConnection, records: Sequence[Record]) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries

    numbers: dict[str, int] = {}
    for some in (records[start : start + 50] for start in range(0, len(records), 50)):
        rows = await connection.execute(
            sa.insert(entries).returning(entries.c.id, entries.c.number),
            [row_of(each) for each in some],
        )
        numbers |= {row.id: row.number for row in rows}
    await _findable(connection, [(numbers[each.id], each) for each in records])


async def _findable(connection: AsyncConnection, records: Iterable[tuple[int, Record]]) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store import tables

    listed = list(records)
    labelled = [
        {"entry": number, "label": label}
        for number, record in listed
        for label in sorted(labels(record))
    ]
    worded = [
        {"entry": number, "term": term, "weight": weight}
        for number, record in listed
        for term, weight in weights(record.text).items()
    ]
    if labelled:
        await connection.execute(sa.insert(tables.labels), labelled)
    if worded:
        await connection.execute(sa.insert(tables.words), worded)


async def _unfindable(connection: AsyncConnection, numbers: Sequence[int]) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store import tables

    if numbers:
        for table in (tables.labels, tables.words):
            await connection.execute(sa.delete(table).where(table.c.entry.in_(numbers)))


async def _keep_versions(connection: AsyncConnection, records: Sequence[Record], by: str) -> None:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import versions

    kept = [
        {
            "entry": each.id,
            "version": each.version,
            "at": each.changed,
            "by": by,
            "fields": each.fields() if each.versioned else None,
        }
        for each in records
    ]
    if kept:
        await connection.execute(sa.insert(versions), kept)


async def _tell(
    connection: AsyncConnection, kind: Kind, records: Sequence[Record], at: datetime
) -> list[Event]:
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import events

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


async def in_turn(connection: AsyncConnection) -> None:
    """Let no other transaction number an event until this one ends.

    Who follows events asks for those after the last: none may appear before it later. It comes
    before the first row that is changed, so that two transactions never wait for each other.
    """
    import sqlalchemy as sa

    if connection.dialect.name == "postgresql":
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_EVENTS)))
