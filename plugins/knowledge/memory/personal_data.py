"""Exports what memory holds about a person, and erases it when they leave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database, PersonalData, PersonalFile, Works
from plugins.knowledge.memory.extraction.reader import WORK
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.policy import AccessPolicy, person_key
from plugins.knowledge.memory.model.record import FORMER_PERSON, UPKEEP, Record
from plugins.knowledge.memory.rights.access import exclusion_key
from plugins.knowledge.memory.store.batches import BatchStore
from plugins.knowledge.memory.store.reads import Version
from plugins.knowledge.memory.store.rows import record_of
from plugins.knowledge.memory.store.tables import (
    approvals,
    batches,
    entries,
    events,
    relations,
    versions,
)
from plugins.knowledge.memory.write.entries import Entries

EVERYBODYS_POLICIES = frozenset({AccessPolicy.ORGANIZATION, AccessPolicy.PUBLIC})


@dataclass(frozen=True, slots=True)
class MemoryPersonalData:
    """Exports and erases a person's entries.

    What they gave to the organization layer for everybody stays, without their name; all else is
    erased with every version, event and vector. The audit log keeps only ids.

    Attributes:
        entries: memory's stores.
        database: the plugin's database.
        batches: what people sent to be written.
        works: the work for agents, which holds turns of conversations until it is done; None where
            conversations are no work.
    """

    entries: Entries
    database: Database
    batches: BatchStore
    works: Works | None = None

    def declaration(self) -> PersonalData:
        """What the plugin offers."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """The ids of everyone of whom something is remembered, or who wrote or decided."""
        held = {record.owner for record in self.entries.working.everything()}
        async with self.database.read() as connection:
            owners = await connection.scalars(sa.select(entries.c.owner).distinct())
            writers = await connection.scalars(sa.select(versions.c.by).distinct())
            deciders = [approvals.c.requested_by, approvals.c.decided_by, batches.c.person]
            deciders += [versions.c.approved_by, relations.c.by]
            asked = sa.union(*(sa.select(each).where(each.is_not(None)) for each in deciders))
            askers = await connection.scalars(asked)
            return (held | set(owners) | set(writers) | set(askers)) - {FORMER_PERSON, UPKEEP}

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """A file for each entry of a person, also those they have forgotten, with its versions."""
        for record in self.entries.working.everything():
            if record.owner == person:
                yield _file(record, [])
        held = frozenset({person_key(person)})
        for record in await self._entries(person):
            kept = await self.entries.reads.versions(record.id, held)
            yield _file(record, [_version(each) for each in reversed(kept)])
        own = sa.select(approvals).where(approvals.c.requested_by == person)
        async with self.database.read() as connection:
            for row in (await connection.execute(own.order_by(approvals.c.requested_at))).all():
                told = json.dumps(row._asdict(), default=str, ensure_ascii=False, indent=2)
                yield PersonalFile(f"memory/requests/{row.id}.json", told.encode())
        for id in await self.batches.ids_of(person):
            sent = json.dumps(await self.batches.pending_requests(id), ensure_ascii=False, indent=2)
            yield PersonalFile(f"memory/batches/{id}.json", sent.encode())

    async def erase(self, person: str) -> None:
        """Remove a person's entries, and their name from what stays."""
        await self.batches.remove(await self.batches.ids_of(person))
        await self._withdraw(person)
        self.entries.working.forget(person)
        owned = await self._entries(person)
        gone = [record.id for record in owned if not _is_everybodys(record)]
        await self.entries.writes.erase(gone)
        if self.entries.vectors is not None:
            await self.entries.vectors.hide(gone)
        for record in owned:
            if _is_everybodys(record):
                await self._hand_over(record.id)
        async with self.database.begin() as connection:
            own = sa.delete(approvals).where(approvals.c.requested_by == person)
            await connection.execute(own)
            signed = (versions.c.by, versions.c.approved_by, approvals.c.decided_by, relations.c.by)
            for column in (entries.c.owner, *signed):
                named = sa.update(column.table).where(column == person)
                await connection.execute(named.values({column.name: FORMER_PERSON}))
            await _remove_reader(connection, person)
            await _remove_verifier(connection, person)

    async def _withdraw(self, person: str) -> None:
        if self.works is None:
            return
        for key in await self.works.states(WORK):
            if key.rpartition("/")[0] == person:
                await self.works.withdraw(WORK, key)

    async def _hand_over(self, id: str) -> None:
        """Let an entry stay that is everybody's, where no store says any more whose it was."""
        record = await self.entries.writes.change_owner(id, FORMER_PERSON)
        if record is not None and self.entries.vectors is not None:
            await self.entries.vectors.follow([record])

    async def _entries(self, person: str) -> list[Record]:
        own = sa.select(entries).where(entries.c.owner == person).order_by(entries.c.number)
        async with self.database.read() as connection:
            return [record_of(row) for row in await connection.execute(own)]


async def _remove_reader(connection: AsyncConnection, person: str) -> None:
    """Let no event, and no version, say that a person could read of it."""
    own = person_key(person)
    named = {own, exclusion_key(own)}
    for table in (events, versions):
        text = table.c.readers.cast(sa.Text)
        of_them = sa.or_(*(text.contains(json.dumps(key), autoescape=True) for key in named))
        key = tuple(table.primary_key.columns)
        rows = await connection.execute(sa.select(table.c.readers, *key).where(of_them))
        for readers, *at in rows.all():
            left = [each for each in readers if each not in named]
            told = sa.update(table).where(sa.tuple_(*key) == sa.tuple_(*at))
            await connection.execute(told.values(readers=left))


async def _remove_verifier(connection: AsyncConnection, person: str) -> None:
    """Let no entry say that a person verified it."""
    text = entries.c.verified.cast(sa.Text)
    signed = text.contains(json.dumps(person), autoescape=True)
    rows = await connection.execute(sa.select(entries.c.number, entries.c.verified).where(signed))
    for number, verified in rows.all():
        left = {**verified, "by": FORMER_PERSON}
        told = sa.update(entries).where(entries.c.number == number)
        await connection.execute(told.values(verified=left))


def _is_everybodys(record: Record) -> bool:
    return record.layer is Layer.ORGANIZATION and record.access.policy in EVERYBODYS_POLICIES


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
