"""How entries go together: what supersedes, corrects or contests what, decided or only found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import among_parameter, batches
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import UPKEEP, Record
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.store.chains import ENDING, FOUND, leads_back, live_in, mark
from plugins.knowledge.memory.store.rows import record_of, validity_of
from plugins.knowledge.memory.store.tables import entries, relations
from plugins.knowledge.memory.store.visibility import MARKING, is_live, key_values, readable


@dataclass(frozen=True, slots=True)
class Challenge:
    """An entry that another one is, or seems, at odds with.

    Attributes:
        entry: the id of the later one.
        target: the id of the earlier one.
        kind: how they go together.
        layer: where the later one is.
        starts: from when on that holds.
        changed: when it was last written.
        challenged: whether something is at odds with that one, too.
        is_dated: whether it says itself from when on it holds.
        until: when it ceases to hold, as far as it says so.
    """

    entry: str
    target: str
    kind: Relation
    layer: Layer
    starts: datetime
    changed: datetime
    challenged: bool
    is_dated: bool = False
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """An entry that goes together with another one.

    Attributes:
        other: the entry.
        kind: how.
        is_later: whether it is the later one of the two, of which the kind is said.
    """

    other: Record
    kind: Relation
    is_later: bool


class Relations:
    """What is known of how entries go together.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def challenging(
        self, targets: Collection[str], keys: frozenset[str], answers: Collection[str]
    ) -> list[Challenge]:
        """The later entries at odds with some others, of those that one of the keys may read.

        What contests another is at odds with it as much as that one is with it: of the two each
        is named as the other's.

        Args:
            targets: the ids of the earlier ones.
            keys: the caller's; what they may not read makes no mark for them.
            answers: the ids of the only entries of which it matters that they are newer.
        """
        if not targets or not keys:
            return []
        named = {"targets": targets, "answers": answers}
        seen = {**key_values(keys, self._clock()), **named}
        async with self._database.read() as connection:
            return [_challenge(row) for row in await connection.execute(_challenging(), seen)]

    async def undecided(
        self, keys: frozenset[str], limit: int, of: str | None = None
    ) -> list[Challenge]:
        """Pairs that nobody has decided, the newest first, of what one of the keys may read.

        Args:
            keys: the caller's.
            limit: at most so many.
            of: the id of an entry, of whose pairs alone is asked.
        """
        seen = {**key_values(keys, self._clock()), "most": limit}
        if not keys:
            return []
        if of is not None:
            seen["of"] = of
        query = _undecided(of is not None)
        async with self._database.read() as connection:
            return [_challenge(row) for row in await connection.execute(query, seen)]

    async def ended(self, targets: Collection[str], keys: frozenset[str]) -> frozenset[str]:
        """Which of some entries others end, as was decided, of what one of the keys may read.

        Args:
            targets: their ids.
            keys: the caller's.
        """
        if not targets or not keys:
            return frozenset()
        seen = {**key_values(keys, self._clock()), "targets": targets}
        async with self._database.read() as connection:
            return frozenset(await connection.scalars(_ended_among(), seen))

    def is_over(self, record: Record) -> bool:
        """Whether an entry has ceased to hold, as it says itself."""
        until = record.validity.valid_until
        return until is not None and until < self._clock()

    async def add_in(
        self,
        connection: AsyncConnection,
        entry: str,
        related: Iterable[tuple[str, Relation]],
        by: str,
        keys: frozenset[str] = frozenset(),
    ) -> None:
        """Write how an entry goes together with others, in the transaction that writes it.

        Args:
            connection: the transaction; it holds the lock under which events are numbered, so
                that of two people who supersede at once the second one sees the first.
            entry: the id of the later one.
            related: the ids of the earlier ones, each with how.
            by: the person who decides; what the portal found leaves a decision as it is.
            keys: theirs; a circle counts as far as these may read it.

        Raises:
            MemoryFailed: they would supersede each other in a circle.
        """
        found: dict[str, Relation] = {}
        for target, kind in related:
            if kind.is_found:
                found.setdefault(target, kind)
                continue
            pair = sa.and_(relations.c.entry == entry, relations.c.target == target)
            back = sa.and_(relations.c.entry == target, relations.c.target == entry)
            if kind.ends_the_other and await leads_back(
                connection, entry, target, keys, self._clock()
            ):
                directly = entry in await self.ended_in(connection, entry, target)
                raise _circle(entry, target, directly=directly)
            gone = (*FOUND, str(Relation.CONTESTS)) if kind.is_mutual else FOUND
            other_way = sa.and_(back, relations.c.kind.in_(gone))
            await connection.execute(sa.delete(relations).where(sa.or_(pair, other_way)))
            await self._insert(connection, entry, {target: kind}, by)
        if found:
            # Everybody who writes waits for this transaction: few statements for many pairs.
            known = await _known(connection, entry, found)
            new = {target: kind for target, kind in found.items() if target not in known}
            await self._insert(connection, entry, new, by)

    async def seems_in(self, connection: AsyncConnection, entry: str, target: str) -> None:
        """Keep that an entry seems to replace an earlier one, where nobody has decided of them."""
        if entry != target:
            both = ((entry, target), (target, entry))
            pair = sa.tuple_(relations.c.entry, relations.c.target).in_(both)
            newer = relations.c.kind == str(Relation.IS_NEWER)
            await connection.execute(sa.delete(relations).where(pair, newer))
            await self.add_in(connection, entry, [(target, Relation.SEEMS_TO_REPLACE)], UPKEEP)

    async def _insert(
        self,
        connection: AsyncConnection,
        entry: str,
        related: Mapping[str, Relation],
        by: str,
    ) -> None:
        row = {"entry": entry, "by": by, "at": self._clock()}
        rows = [{**row, "target": target, "kind": str(kind)} for target, kind in related.items()]
        if rows:
            await connection.execute(sa.insert(relations), rows)
            await mark(connection, [entry, *related])

    async def end_no_more_in(
        self, connection: AsyncConnection, entry: str, other: str, ended: Collection[str]
    ) -> None:
        """Take back that one of two entries ends the other, in the transaction that says so."""
        pair = (relations.c.entry.in_((entry, other)), relations.c.target.in_(sorted(ended)))
        ending = relations.c.kind.in_(ENDING)
        await connection.execute(sa.delete(relations).where(*pair, ending))
        await mark(connection, sorted(ended))

    async def beside_in(self, connection: AsyncConnection, entry: str) -> list[Beside]:
        """How an entry goes together with others, earlier and later, whoever reads these."""
        either = sa.or_(relations.c.entry == entry, relations.c.target == entry)
        rows = list(await connection.execute(sa.select(relations).where(either)))
        ids = {id for row in rows for id in (row.entry, row.target)} - {entry}
        others = await live_in(connection, ids, self._clock())
        return [
            Beside(other, Relation(row.kind), is_later=row.target == entry)
            for row in rows
            if (other := others.get(row.entry if row.target == entry else row.target)) is not None
        ]

    async def drop_in(
        self, connection: AsyncConnection, entry: str, gone: Iterable[Beside]
    ) -> None:
        """Take back how an entry goes together with some others, in the same transaction."""
        for some in batches(sorted({each.other.id for each in gone})):
            own = sa.and_(relations.c.entry == entry, relations.c.target.in_(some))
            theirs = sa.and_(relations.c.target == entry, relations.c.entry.in_(some))
            await connection.execute(sa.delete(relations).where(sa.or_(own, theirs)))
            await mark(connection, [entry, *some])

    async def leave_in(self, connection: AsyncConnection, turn: int) -> None:
        """Take back what the portal found beside a turn of a conversation, by its number.

        What was found in the turn is compared instead.
        """
        named = sa.select(entries.c.id).where(entries.c.number == turn).scalar_subquery()
        either = sa.or_(relations.c.entry == named, relations.c.target == named)
        beside = sa.and_(either, relations.c.kind.in_(FOUND))
        pairs = await connection.execute(
            sa.select(relations.c.entry, relations.c.target).where(beside)
        )
        if ids := sorted({id for pair in pairs for id in pair}):
            await connection.execute(sa.delete(relations).where(beside))
            await mark(connection, ids)

    async def told_apart(self, numbers: Collection[int], keys: frozenset[str]) -> frozenset[int]:
        """The numbers of those turns in which something was found that one of the keys may read."""
        async with self._database.read() as connection:
            return await self.told_apart_in(connection, numbers, keys)

    async def told_apart_in(
        self, connection: AsyncConnection, numbers: Collection[int], keys: frozenset[str]
    ) -> frozenset[int]:
        """The same, in a transaction."""
        if not numbers or not keys:
            return frozenset()
        seen = {**key_values(keys, self._clock()), "turns": numbers}
        return frozenset(await connection.scalars(_found_in(), seen))

    async def ended_in(self, connection: AsyncConnection, entry: str, other: str) -> set[str]:
        """Which of two entries the other one of them ends, as was decided."""
        own = sa.and_(relations.c.entry == entry, relations.c.target == other)
        back = sa.and_(relations.c.entry == other, relations.c.target == entry)
        ending = sa.select(relations.c.target).where(relations.c.kind.in_(ENDING))
        return set(await connection.scalars(ending.where(sa.or_(own, back))))

    async def ended_by(self, entry: str) -> list[Record]:
        """The live entries that an entry ends, as was decided: for a rule, whoever reads them."""
        joined = entries.join(relations, entries.c.id == relations.c.target)
        ending = (relations.c.entry == entry, relations.c.kind.in_(ENDING))
        chosen = sa.select(entries).select_from(joined).where(*ending, is_live(self._clock()))
        async with self._database.read() as connection:
            return [record_of(row) for row in await connection.execute(chosen)]

    async def successors_in(self, connection: AsyncConnection, target: str, entry: str) -> set[str]:
        """What ends an entry already, beside one that is to: live entries, whoever reads them."""
        joined = relations.join(entries, entries.c.id == relations.c.entry)
        chosen = sa.select(relations.c.entry).select_from(joined)
        ending = (relations.c.target == target, relations.c.kind.in_(ENDING))
        other = relations.c.entry != entry
        rows = await connection.scalars(chosen.where(*ending, other, is_live(self._clock())))
        return set(rows)


async def _known(connection: AsyncConnection, entry: str, others: Collection[str]) -> set[str]:
    """Which of some entries go together with one already, whichever is the later."""
    pairs = sa.select(relations.c.entry, relations.c.target).where(
        sa.or_(
            sa.and_(relations.c.entry == entry, relations.c.target.in_(others)),
            sa.and_(relations.c.target == entry, relations.c.entry.in_(others)),
        )
    )
    return {id for pair in await connection.execute(pairs) for id in pair}


def _circle(entry: str, target: str, *, directly: bool) -> MemoryFailed:
    """Why an entry does not end another one, and what to do: that one ends it already."""
    undone = (
        f" Where that was a mistake, call settle_memory(id={target}, target={entry}, "
        "decision=apart) first."
    )
    return MemoryFailed(
        ErrorCode.CONFLICT,
        f"{target} supersedes {entry} already, itself or by others: they would supersede each "
        f"other in a circle. Decide which of them holds now.{undone if directly else ''}",
    )


_SHOWN = (
    *(entries.c.layer, entries.c.created, entries.c.updated, entries.c.challenged),
    *(entries.c.event_at, entries.c.valid_from, entries.c.valid_until),
)


def _chosen() -> Select[Any]:
    joined = relations.join(entries, entries.c.id == relations.c.entry)
    known = (relations.c.entry, relations.c.target, relations.c.kind, relations.c.at)
    return sa.select(*known, *_SHOWN).select_from(joined).where(readable())


@lru_cache(maxsize=1)
def _found_in() -> Select[Any]:
    """The turns in which readable entries were found, among some."""
    among = among_parameter(entries.c.taken_from, "turns")
    return sa.select(entries.c.taken_from).where(among, readable()).distinct()


@lru_cache(maxsize=1)
def _challenging() -> Select[Any]:
    targets = among_parameter(relations.c.target, "targets")
    among = among_parameter(relations.c.entry, "answers")
    newer = sa.and_(relations.c.kind == str(Relation.IS_NEWER), among)
    which = sa.or_(relations.c.kind.in_(MARKING), newer)
    every = sa.union_all(_chosen().where(targets, which), _contested()).subquery()
    return sa.select(every).order_by(every.c.at, every.c.entry)


def _contested() -> Select[Any]:
    """What some entries contest, as what is at odds with them."""
    joined = relations.join(entries, entries.c.id == relations.c.target)
    sides = (relations.c.target.label("entry"), relations.c.entry.label("target"))
    chosen = sa.select(*sides, relations.c.kind, relations.c.at, *_SHOWN).select_from(joined)
    targets = among_parameter(relations.c.entry, "targets")
    return chosen.where(targets, relations.c.kind == str(Relation.CONTESTS), readable())


@lru_cache(maxsize=2)
def _undecided(of_one: bool) -> Select[Any]:
    """The pairs of which the earlier one still holds, as far as its reader may know."""
    found = relations.c.kind.in_((str(Relation.SEEMS_TO_REPLACE), str(Relation.CONTESTS)))
    newest = (relations.c.at.desc(), relations.c.entry)
    holds = sa.and_(~_ended(relations.c.target), ~_over(relations.c.target))
    one = sa.bindparam("of", type_=relations.c.entry.type)
    own = [sa.or_(relations.c.entry == one, relations.c.target == one)] if of_one else []
    chosen = _chosen().where(found, holds, *own)
    return chosen.order_by(*newest).limit(sa.bindparam("most"))


@lru_cache(maxsize=1)
def _ended_among() -> Select[Any]:
    """Which of some entries others end, of those that one of the keys may read."""
    named = among_parameter(entries.c.id, "targets")
    return sa.select(entries.c.id).where(named, _ended(entries.c.id))


def _ended(target: ColumnElement[str]) -> ColumnElement[bool]:
    """That an entry which one of the keys may read ends another one, as was decided."""
    ending, later = relations.alias("ending"), entries.alias("later")
    joined = ending.join(later, later.c.id == ending.c.entry)
    which = (ending.c.target == target, ending.c.kind.in_(ENDING), readable(later))
    found = sa.select(sa.literal(1)).select_from(joined).where(*which)
    return sa.exists(found.correlate_except(ending, later))


def _over(target: ColumnElement[str]) -> ColumnElement[bool]:
    """That an entry has ceased to hold, as it says itself."""
    earlier = entries.alias("earlier")
    now = sa.bindparam("now", type_=entries.c.expires.type)
    which = (earlier.c.id == target, earlier.c.valid_until < now)
    return sa.exists(sa.select(sa.literal(1)).where(*which).correlate_except(earlier))


def _challenge(row: Any) -> Challenge:
    return Challenge(
        entry=row.entry,
        target=row.target,
        kind=Relation(row.kind),
        layer=Layer(row.layer),
        starts=validity_of(row).starts(row.created),
        changed=row.updated or row.created,
        challenged=row.challenged,
        is_dated=row.valid_from is not None,
        until=row.valid_until,
    )
