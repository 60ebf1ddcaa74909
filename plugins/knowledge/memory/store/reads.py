"""Reads entries. Every method names the keys that its caller holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Select

from gateway.contract import Database
from gateway.toolkit.sql import among_parameter
from plugins.knowledge.memory.algorithms.relevance import W_ALL, score, words_score
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import EntryFilter, Question, Scored
from plugins.knowledge.memory.model.record import UPKEEP, Record, Writer
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.store import words
from plugins.knowledge.memory.store.rows import record_of, validity_of
from plugins.knowledge.memory.store.tables import entries, versions
from plugins.knowledge.memory.store.tables import words as worded
from plugins.knowledge.memory.store.visibility import (
    FilterShape,
    filter_conditions,
    filter_values,
    is_live,
    key_values,
    readable,
    unmarked,
)

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection


class WordAnswers(NamedTuple):
    """What words find, and how much each word of the question tells for the caller.

    Attributes:
        found: the entries, best first.
        rarities: what the terms tell (``words.py``).
    """

    found: Sequence[Scored] = ()
    rarities: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an entry.

    Attributes:
        number: which one, from 1.
        at: when it was written.
        by: who wrote it.
        fields: what it said (:meth:`Record.fields`), or None where the entry keeps no versions.
    """

    number: int
    at: datetime
    by: str
    fields: Mapping[str, Any] | None


class Reads:
    """What is remembered, as a caller sees it.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self.database, self.clock = database, clock

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Entries by their ids, with their writers; not those gone, or that no key may read."""
        # Ids that cannot exist are left out: PostgreSQL takes neither a NUL nor a lone surrogate.
        possible = sorted(id for id in ids if id.isascii() and id.isprintable())
        if not possible or not keys:
            return {}
        seen = key_values(keys, self.clock())
        async with self.database.read() as connection:
            rows = await connection.execute(_entries_by_id(), {**seen, "ids": possible})
            return {row.id: record_of(row, _writer(row)) for row in rows}

    async def duplicates_in(
        self, connection: AsyncConnection, record: Record, keys: frozenset[str], *, behind: bool
    ) -> list[Record]:
        """The owner's entries in the record's layer that say the same, for the same readers.

        What was said of another time is said anew, and what another agent notes in a session
        is its own: each finds what it wrote there.

        Args:
            connection: of the transaction that is to write the record.
            record: what is said now.
            keys: of who says it; what none of them may read is at odds with nothing.
            behind: whether only the turn of a conversation counts that stands behind the same one.
        """
        now = self.clock()
        own = {name: str(getattr(record, name)) for name in ("owner", "fingerprint", "layer")}
        rows = await connection.execute(_said_alike(), key_values(keys, now) | own)
        found = [record_of(row) for row in rows]
        said, is_event = record.validity, record.layer is Layer.EPISODIC
        return [
            each
            for each in found
            if each.readers == record.readers
            and each.id != record.id
            and (each.agent == record.agent or record.layer is not Layer.SESSION)
            and said.repeats(each.validity, now, is_event=is_event)
            and (not behind or each.follows == record.follows)
        ]

    async def is_taken(self, id: str) -> bool:
        """Whether an entry has this id, or had it and was removed; whoever may read it."""
        own = sa.select(sa.literal(1)).where(entries.c.id == id)
        async with self.database.read() as connection:
            return await connection.scalar(own) is not None

    async def forgotten(self, id: str) -> Record | None:
        """An entry that is forgotten and not purged yet, for a rule: nobody reads it."""
        if not (id.isascii() and id.isprintable()):
            return None
        own = sa.select(entries).where(entries.c.id == id, entries.c.deleted.is_not(None))
        async with self.database.read() as connection:
            row = (await connection.execute(own)).one_or_none()
        return None if row is None else record_of(row)

    async def owner_of(self, id: str) -> str | None:
        """Whose entry this is, for the portal's own work; None where there is none any more."""
        own = sa.select(entries.c.owner).where(entries.c.id == id, is_live(self.clock()))
        async with self.database.read() as connection:
            owner: str | None = await connection.scalar(own)
        return owner

    async def writers(self) -> frozenset[str]:
        """The ids of everybody who owns an entry, or wrote a version of one."""
        every = sa.union(sa.select(entries.c.owner), sa.select(versions.c.by))
        async with self.database.read() as connection:
            return frozenset(await connection.scalars(every))

    async def versions(self, id: str, keys: frozenset[str]) -> list[Version]:
        """What an entry was, the newest first: the versions that one of these keys may read.

        Each is judged by the policy that it was written under, whatever the entry's is now; for
        those who may read the entry.
        """
        return await self._versions(keys, versions.c.entry == id)

    async def version(self, id: str, number: int, keys: frozenset[str]) -> Version | None:
        """One of these; None where there is none, or no key may read it."""
        found = await self._versions(keys, versions.c.entry == id, versions.c.version == number)
        return found[0] if found else None

    async def _versions(self, keys: frozenset[str], *which: ColumnElement[bool]) -> list[Version]:
        kept = sa.select(versions).where(*which).order_by(versions.c.version.desc())
        async with self.database.read() as connection:
            rows = await connection.execute(kept)
            return [
                Version(row.version, row.at, row.by, row.fields)
                for row in rows
                if not keys.isdisjoint(row.readers)
            ]

    async def listed(
        self, layers: Collection[Layer], entry_filter: EntryFilter, keys: frozenset[str], limit: int
    ) -> tuple[dict[str, datetime], int]:
        """The entries of some layers, the newest first.

        Args:
            layers: where.
            entry_filter: what an entry must be.
            keys: of which one must read it.
            limit: how many at most.

        Returns:
            When each was first written, by its id, and how many there are in all.
        """
        if not keys or not layers:
            return {}, 0
        where = (
            entries.c.layer.in_(sorted(layers)),
            readable(),
            *filter_conditions(FilterShape.of(entry_filter)),
        )
        values = key_values(keys, self.clock()) | filter_values(entry_filter)
        chosen = sa.select(entries.c.id, entries.c.created).where(*where)
        counted = sa.select(sa.func.count()).select_from(entries).where(*where)
        async with self.database.read() as connection:
            total = int(await connection.scalar(counted, values) or 0)
            newest = chosen.order_by(entries.c.created.desc(), entries.c.id).limit(limit)
            rows = await connection.execute(newest, values)
            return {row.id: row.created for row in rows}, total

    async def search_words(self, layer: Layer, question: Question) -> WordAnswers:
        """The entries of a layer that have the question's words.

        Args:
            layer: where.
            question: who asks, and what.
        """
        if not question.keys:
            return WordAnswers()
        shape, values = self.asked(question)
        values["layer"] = str(layer)
        async with self.database.read() as connection:
            rare = await words.rarities(connection, question.terms, shape, values)
            rows = await words.search(connection, rare, shape, values, question.limit)
        return WordAnswers([_by_words(row, question) for row in rows], rare)

    async def words_of(
        self,
        numbers: Collection[int],
        rarities: Mapping[int, float],
        layer: Layer,
        question: Question,
    ) -> list[Scored]:
        """What the question's words tell of some entries that were found otherwise.

        Args:
            numbers: the entries' numbers.
            rarities: what :meth:`search_words` said of the terms.
            layer: where they are.
            question: who asks, and what.
        """
        if not numbers or not question.keys:
            return []
        shape, values = self.asked(question)
        values["layer"] = str(layer)
        async with self.database.read() as connection:
            rows = await words.search(
                connection, rarities, shape, values, len(numbers), sorted(numbers)
            )
        return [_by_words(row, question) for row in rows]

    async def terms_of(self, numbers: Collection[int]) -> dict[int, frozenset[int]]:
        """The terms of entries that a caller has been shown, by their numbers."""
        if not numbers:
            return {}
        having = sa.select(worded.c.entry, worded.c.term).where(worded.c.entry.in_(sorted(numbers)))
        found: dict[int, set[int]] = {}
        async with self.database.read() as connection:
            for row in await connection.execute(having):
                found.setdefault(row.entry, set()).add(row.term)
        return {number: frozenset(some) for number, some in found.items()}

    async def admitted(
        self, ids: Collection[str], layer: Layer, question: Question
    ) -> dict[str, Scored]:
        """Which of some entries answer the question by its conditions, without a score.

        It is asked for what the vector store found, which may be behind the database.
        """
        if not ids or not question.keys:
            return {}
        shape, values = self.asked(question)
        values |= {"layer": str(layer), "ids": ids}
        async with self.database.read() as connection:
            rows = await connection.execute(_shown_by_id(shape), values)
            return {row.id: scored(row) for row in rows}

    async def neighbours(
        self, numbers: Mapping[int, int | None], layer: Layer, question: Question
    ) -> list[Scored]:
        """The turns before and after some turns of conversations, as far as they may be seen.

        Args:
            numbers: the numbers of turns, each with that of the turn before it.
            layer: where they are.
            question: who asks, and what an answer must be.
        """
        if not numbers or not question.keys:
            return []
        shape, values = self.asked(question)
        before = [each for each in numbers.values() if each is not None]
        values |= {"layer": str(layer), "turns": numbers, "before": before}
        async with self.database.read() as connection:
            return [scored(row) for row in await connection.execute(_neighbours(shape), values)]

    async def unverified(self, owner: str, before: datetime, limit: int) -> list[Record]:
        """What somebody owns that was neither written nor verified since, the oldest first.

        Args:
            owner: the person.
            before: the moment.
            limit: how many at most.
        """
        own = entries.c
        said = sa.func.coalesce(own.worded, own.updated, own.created, type_=own.created.type)
        of_now = (own.layer != str(Layer.EPISODIC), own.event_at.is_(None))
        old = sa.select(entries).where(
            own.owner == owner, said < before, *of_now, is_live(self.clock())
        )
        async with self.database.read() as connection:
            rows = await connection.execute(old.order_by(said, own.id).limit(limit))
            found = [record_of(row) for row in rows]
        return [each for each in found if each.verified is None or each.verified.at < before]

    async def verified(self, owner: str, limit: int) -> list[Record]:
        """What somebody owns that was verified, the last written first.

        Args:
            owner: the person.
            limit: how many at most.
        """
        own = (entries.c.owner == owner, entries.c.verified.is_not(None))
        chosen = sa.select(entries).where(*own, is_live(self.clock()))
        async with self.database.read() as connection:
            rows = await connection.execute(chosen.order_by(entries.c.number.desc()).limit(limit))
            return [record_of(row) for row in rows]

    async def last_of(self, record: Record) -> Record | None:
        """What an entry's owner wrote last in its layer."""
        own = (entries.c.owner == record.owner, entries.c.layer == str(record.layer))
        last = sa.select(entries).where(*own, is_live(self.clock()))
        async with self.database.read() as connection:
            found = await connection.execute(last.order_by(entries.c.number.desc()).limit(1))
            row = found.one_or_none()
        return None if row is None else record_of(row)

    def asked(self, question: Question) -> tuple[FilterShape, dict[str, Any]]:
        """Which filters a question has, and all that its conditions compare with."""
        by = question.entry_filter
        return FilterShape.of(by), key_values(question.keys, self.clock()) | filter_values(by)


@lru_cache(maxsize=1)
def _said_alike() -> Select[Any]:
    """An owner's entries of a layer that say the same; what was true before is said anew."""
    own = (entries.c[name] == sa.bindparam(name) for name in ("owner", "fingerprint", "layer"))
    return sa.select(entries).where(*own, unmarked(), is_live())


@lru_cache(maxsize=1)
def _entries_by_id() -> Select[Any]:
    """Readable entries by their ids, each with the last version that somebody wrote."""
    own = (versions.c.entry == entries.c.id, versions.c.by != UPKEEP)
    last = sa.select(sa.func.max(versions.c.version)).where(*own).correlate(entries)
    written = sa.and_(
        versions.c.entry == entries.c.id, versions.c.version == last.scalar_subquery()
    )
    named = among_parameter(entries.c.id, "ids")
    shown = (versions.c.by, versions.c.approved_by)
    joined = entries.outerjoin(versions, written)
    return sa.select(entries, *shown).select_from(joined).where(named, readable())


def _writer(row: Any) -> Writer | None:
    return None if row.by is None else Writer(row.by, row.approved_by)


@lru_cache(maxsize=256)
def _shown_by_id(shape: FilterShape) -> Select[Any]:
    """What is known of entries of a layer, by their ids, that a question may have as answers."""
    named = among_parameter(entries.c.id, "ids")
    home = entries.c.layer == sa.bindparam("layer")
    return sa.select(*words.SHOWN).where(named, home, readable(), *filter_conditions(shape))


@lru_cache(maxsize=256)
def _neighbours(shape: FilterShape) -> Select[Any]:
    """Entries of a layer that come before or after some, as turns of conversations."""
    after = among_parameter(entries.c.follows, "turns")
    before = among_parameter(entries.c.number, "before")
    home = entries.c.layer == sa.bindparam("layer")
    which = (sa.or_(after, before), home, readable(), *filter_conditions(shape))
    return sa.select(*words.SHOWN).where(*which)


def scored(row: Any, score: float = 0.0) -> Scored:
    """What is known of an entry before it is read."""
    return Scored(
        id=row.id,
        score=score,
        changed=row.updated or row.created,
        created=row.created,
        validity=validity_of(row),
        challenged=row.challenged,
        number=row.number,
        follows=row.follows,
        taken_from=row.taken_from,
        version=row.version,
    )


def _by_words(row: Any, question: Question) -> Scored:
    """A row with what its words are worth; that it has them all makes it an answer."""
    said = words_score(row.score)
    if row.said < len(question.terms):
        return scored(row, score(Mode.KEYWORD, None, said))
    worth = score(Mode.KEYWORD, None, said + (1.0 - said) * W_ALL)
    return scored(row).with_score(worth, says_all=True)
