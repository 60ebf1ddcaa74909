"""What memory keeps of people: handed to them, and erased when they leave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.contract import Database, PersonalData, PersonalFile
from plugins.knowledge.memory.access import except_for, person_key
from plugins.knowledge.memory.entries import AccessPolicy, Layer
from plugins.knowledge.memory.layers.working import WorkingLayer
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.store.batches import BatchStore
from plugins.knowledge.memory.store.reading import Reading, Version
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.writing import Writing
from plugins.knowledge.memory.vectors import MemoryVectors

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

FORMER = "former"
"""Whose an entry is whose owner has left."""
EVERYBODYS = frozenset({AccessPolicy.ORGANIZATION, AccessPolicy.PUBLIC})


@dataclass(frozen=True, slots=True)
class Leaving:
    """Hands people what is remembered of them, and erases it.

    What they gave to the organization's memory for everybody stays, without whose it was; all
    else goes with every version, event and vector. The audit log keeps ids alone.

    Attributes:
        database: the plugin's database.
        reading: reads versions.
        writing: what erases entries.
        working: working memory.
        vectors: the vector store, or None where the portal has no model.
        batches: what they sent to be written.
    """

    database: Database
    reading: Reading
    writing: Writing
    working: WorkingLayer
    vectors: MemoryVectors | None
    batches: BatchStore

    def declared(self) -> PersonalData:
        """What the plugin offers."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """The ids of everyone of whom something is remembered, or who wrote or decided."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import approvals, batches, entries, versions

        held = {record.owner for record in self.working.everything()}
        async with self.database.read() as connection:
            owners = await connection.scalars(sa.select(entries.c.owner).distinct())
            writers = await connection.scalars(sa.select(versions.c.by).distinct())
            deciders = [approvals.c.requested_by, approvals.c.decided_by, batches.c.person]
            deciders.append(versions.c.approved_by)
            asked = sa.union(*(sa.select(each).where(each.is_not(None)) for each in deciders))
            askers = await connection.scalars(asked)
            return (held | set(owners) | set(writers) | set(askers)) - {FORMER}

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """A file for each entry of a person, also those they have forgotten, with its versions."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import approvals

        for record in self.working.everything():
            if record.owner == person:
                yield _file(record, [])
        held = frozenset({person_key(person)})
        for record in await self._entries(person):
            kept = await self.reading.versions(record.id, held)
            yield _file(record, [_version(each) for each in reversed(kept)])
        own = sa.select(approvals).where(approvals.c.requested_by == person)
        async with self.database.read() as connection:
            for row in (await connection.execute(own.order_by(approvals.c.requested_at))).all():
                told = json.dumps(row._asdict(), default=str, ensure_ascii=False, indent=2)
                yield PersonalFile(f"memory/requests/{row.id}.json", told.encode())
        for id in await self.batches.of(person):
            sent = json.dumps(await self.batches.waiting(id), ensure_ascii=False, indent=2)
            yield PersonalFile(f"memory/batches/{id}.json", sent.encode())

    async def erase(self, person: str) -> None:
        """Remove a person's entries, and their name from what stays."""
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import approvals, entries, versions

        await self.batches.remove(await self.batches.of(person))
        self.working.forget(person)
        owned = await self._entries(person)
        gone = [record.id for record in owned if not _is_everybodys(record)]
        await self.writing.erase(gone)
        if self.vectors is not None:
            await self.vectors.hide(gone)
        for record in owned:
            if _is_everybodys(record):
                await self._hand_over(record.id)
        async with self.database.begin() as connection:
            own = sa.delete(approvals).where(approvals.c.requested_by == person)
            await connection.execute(own)
            signed = (versions.c.by, versions.c.approved_by, approvals.c.decided_by)
            for column in (entries.c.owner, *signed):
                named = sa.update(column.table).where(column == person)
                await connection.execute(named.values({column.name: FORMER}))
            await _unnamed(connection, person)

    async def _hand_over(self, id: str) -> None:
        """Let an entry stay that is everybody's, where no store says any more whose it was."""
        record = await self.writing.hand_over(id, FORMER)
        if record is not None and self.vectors is not None:
            await self.vectors.follow([record])

    async def _entries(self, person: str) -> list[Record]:
        import sqlalchemy as sa

        from plugins.knowledge.memory.store.tables import entries

        own = sa.select(entries).where(entries.c.owner == person).order_by(entries.c.number)
        async with self.database.read() as connection:
            return [record_of(row) for row in await connection.execute(own)]


async def _unnamed(connection: AsyncConnection, person: str) -> None:
    """Let no event, and no version, say that a person could read of it."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import events, versions

    own = person_key(person)
    named = {own, except_for(own)}
    for table in (events, versions):
        text = table.c.readers.cast(sa.Text)
        of_them = sa.or_(*(text.contains(json.dumps(key), autoescape=True) for key in named))
        key = tuple(table.primary_key.columns)
        rows = await connection.execute(sa.select(table.c.readers, *key).where(of_them))
        for readers, *at in rows.all():
            left = [each for each in readers if each not in named]
            told = sa.update(table).where(sa.tuple_(*key) == sa.tuple_(*at))
            await connection.execute(told.values(readers=left))


def _is_everybodys(record: Record) -> bool:
    return record.layer is Layer.ORGANIZATION and record.access.policy in EVERYBODYS


def _version(one: Version) -> dict[str, Any]:
    return {"version": one.number, "at": one.at.isoformat(), "by": one.by, "fields": one.fields}


def _file(record: Record, versions: list[dict[str, Any]]) -> PersonalFile:
    told = {
        "layer": record.layer,
        "agent": record.agent,
        "access": record.access.model_dump(mode="json"),
        "entry": record.entry().model_dump(mode="json", exclude_none=True),
        "versions": versions,
    }
    data = json.dumps(told, ensure_ascii=False, indent=2).encode()
    return PersonalFile(f"memory/{record.id}.json", data)
