"""Which entries name the same rare thing as some others, as far as their reader may know."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import among_parameter
from plugins.knowledge.memory.algorithms.entities import MAX_SHARED, maybe_named_in
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import Question, Scored
from plugins.knowledge.memory.store.reads import Reads, scored
from plugins.knowledge.memory.store.tables import entities, entries, words
from plugins.knowledge.memory.store.visibility import FilterShape, filter_conditions, readable
from plugins.knowledge.memory.store.words import SHOWN, term_ids

MAX_LEADING = 8
"""Names, the rarest ones, that are followed."""
_SAID = (*SHOWN, entries.c.layer, entries.c.fingerprint)


@dataclass(frozen=True, slots=True)
class Naming:
    """An entry that names something.

    Attributes:
        name: what.
        entries: how many entries name it, of those that the reader may read.
        scored: the entry, without a score.
        layer: where it is.
        words: what entries that say the same have in common.
    """

    name: str
    entries: int
    scored: Scored
    layer: Layer
    words: str = ""

    def repeats(self, other: Naming) -> bool:
        """Whether it says what another does: what both name tells nothing then."""
        return self.words == other.words


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """Follows names from entries to others.

    Attributes:
        reads: the entries.
    """

    reads: Reads

    async def of(
        self, numbers: Sequence[int], layers: Collection[Layer], question: Question
    ) -> list[Naming]:
        """The entries that name what some entries do, these among them; the rarest names first.

        Some entries' names may lack their capitals, where others write them with one.
        How rare a name is counts among what the caller may read: nothing tells what others keep.

        Args:
            numbers: of the entries whose names are followed.
            layers: where the others are looked for.
            question: who asks, and what an answer must be.
        """
        if not numbers or not layers or not question.keys:
            return []
        shape, values = self.reads.asked(question)
        values |= {"numbers": list(numbers), "layers": sorted(map(str, layers))}
        async with self.reads.database.read() as connection:
            rows = await connection.execute(_rare(shape), values)
            counts = {row.entity: row.entries for row in rows}
            said = await _said_without_capitals(connection, shape, values)
            counts |= {each.name: each.entries for each in said if each.name not in counts}
            if not counts:
                return []
            found = await connection.execute(_naming(shape), {**values, "names": list(counts)})
            named = [_naming_of(row, row.entity, counts[row.entity]) for row in found]
            return named + said


async def _said_without_capitals(
    connection: AsyncConnection, shape: FilterShape, values: Mapping[str, Any]
) -> list[Naming]:
    """The entries with the names that they say without capitals, and that others write with them.

    A word names something where most that say it give it a capital: "mill street", not "street".
    """
    sources = list(await connection.execute(_sources(shape), values))
    maybe = {row.number: maybe_named_in(row.content) for row in sources}
    if not (asked := sorted(frozenset().union(*maybe.values()))):
        return []
    rows = await connection.execute(_written(shape), {**values, "names": asked})
    written = {row.entity: row.entries for row in rows}
    if not written:
        return []
    terms = {name: term_ids(name) for name in written}
    wanted = sorted(frozenset().union(*terms.values()))
    rows = await connection.execute(_saying(shape), {**values, "terms": wanted})
    saying = {row.term: row.entries for row in rows}
    return [
        _naming_of(row, name, written[name] + 1)
        for row in sources
        for name in sorted(maybe[row.number] & written.keys())
        if terms[name] and 2 * written[name] >= min(saying.get(each, 0) for each in terms[name])
    ]


@lru_cache(maxsize=256)
def _sources(shape: FilterShape) -> Select[Any]:
    """The entries whose names are followed, with what they say."""
    numbered = among_parameter(entries.c.number, "numbers")
    shown = sa.select(*_SAID, entries.c.content)
    return shown.where(numbered, readable(), *filter_conditions(shape))


@lru_cache(maxsize=256)
def _written(shape: FilterShape) -> Select[Any]:
    """Names that other entries have with their capitals, with how many these are."""
    named = among_parameter(entities.c.entity, "names")
    other = ~among_parameter(entities.c.entry, "numbers")
    return _rarest(shape, sa.select(entities.c.entity).where(named), 1, MAX_SHARED - 1, other)


@lru_cache(maxsize=256)
def _rare(shape: FilterShape) -> Select[Any]:
    """The names of some entries that a few others have too, with how many."""
    numbered = among_parameter(entities.c.entry, "numbers")
    return _rarest(shape, sa.select(entities.c.entity).where(numbered), 2, MAX_SHARED)


def _rarest(
    shape: FilterShape,
    names: Select[Any],
    least: int,
    most: int,
    *conditions: sa.ColumnElement[bool],
) -> Select[Any]:
    """Those of some names that so many entries have, with how many; the rarest first.

    Common names are not counted to their end: half of all entries may have one.
    """
    named = names.distinct().subquery("named")
    having = _found(shape, sa.literal(1).label("one")).where(
        entities.c.entity == named.c.entity, *conditions
    )
    counted = sa.select(named.c.entity, _up_to(having, most + 1, named)).subquery("counted")
    return (
        sa.select(counted.c.entity, counted.c.entries)
        .where(counted.c.entries.between(least, most))
        .order_by(counted.c.entries, counted.c.entity)
        .limit(MAX_LEADING)
    )


@lru_cache(maxsize=256)
def _saying(shape: FilterShape) -> Select[Any]:
    """How many entries say each of some terms, as far as it matters beside a rare name."""
    wanted = among_parameter(words.c.term, "terms")
    home = among_parameter(words.c.layer, "layers")
    named = sa.select(words.c.term).where(home, wanted).distinct().subquery("named")
    joined = words.join(entries, words.c.entry == entries.c.number)
    saying = sa.select(sa.literal(1).label("one")).select_from(joined)
    said = saying.where(home, words.c.term == named.c.term, readable(), *filter_conditions(shape))
    return sa.select(named.c.term, _up_to(said, 2 * MAX_SHARED, named))


def _up_to(rows: Select[Any], most: int, beside: sa.FromClause) -> sa.Label[int]:
    """How many rows there are for each of what they stand beside, counted up to a limit."""
    some = rows.limit(most).correlate(beside).subquery("some")
    return sa.select(sa.func.count()).select_from(some).scalar_subquery().label("entries")


@lru_cache(maxsize=256)
def _naming(shape: FilterShape) -> Select[Any]:
    named = among_parameter(entities.c.entity, "names")
    return _found(shape, *_SAID, entities.c.entity).where(named)


def _naming_of(row: Any, name: str, count: int) -> Naming:
    return Naming(name, count, scored(row), Layer(row.layer), row.fingerprint)


def _found(shape: FilterShape, *columns: Any) -> Select[Any]:
    joined = entities.join(entries, entities.c.entry == entries.c.number)
    home = among_parameter(entries.c.layer, "layers")
    return (
        sa.select(*columns).select_from(joined).where(home, readable(), *filter_conditions(shape))
    )
