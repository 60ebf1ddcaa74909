"""Which entries name the same rare thing as some others, as far as their reader may know."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Select

from plugins.knowledge.memory.algorithms.entities import MAX_SHARED
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.query_context import Question, Scored
from plugins.knowledge.memory.store.reads import Reads, scored
from plugins.knowledge.memory.store.tables import entities, entries
from plugins.knowledge.memory.store.visibility import FilterShape, filter_conditions, readable
from plugins.knowledge.memory.store.words import SHOWN

MAX_LEADING = 8
"""Names, the rarest ones, that are followed."""


@dataclass(frozen=True, slots=True)
class Naming:
    """An entry that names something.

    Attributes:
        name: what.
        entries: how many entries name it, of those that the reader may read.
        scored: the entry, without a score.
        layer: where it is.
    """

    name: str
    entries: int
    scored: Scored
    layer: Layer


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
            if not counts:
                return []
            found = await connection.execute(_naming(shape), {**values, "names": list(counts)})
            return [
                Naming(row.entity, counts[row.entity], scored(row), Layer(row.layer))
                for row in found
            ]


@lru_cache(maxsize=256)
def _rare(shape: FilterShape) -> Select[Any]:
    """The names of some entries that a few others have too, with how many."""
    own = sa.select(entities.c.entity).where(
        entities.c.entry.in_(sa.bindparam("numbers", expanding=True))
    )
    counted = sa.func.count().label("entries")
    named = _found(shape, entities.c.entity, counted).where(entities.c.entity.in_(own))
    return (
        named.group_by(entities.c.entity)
        .having(counted.between(2, MAX_SHARED))
        .order_by(counted, entities.c.entity)
        .limit(MAX_LEADING)
    )


@lru_cache(maxsize=256)
def _naming(shape: FilterShape) -> Select[Any]:
    named = entities.c.entity.in_(sa.bindparam("names", expanding=True))
    return _found(shape, *SHOWN, entries.c.layer, entities.c.entity).where(named)


def _found(shape: FilterShape, *columns: Any) -> Select[Any]:
    joined = entities.join(entries, entities.c.entry == entries.c.number)
    home = entries.c.layer.in_(sa.bindparam("layers", expanding=True))
    return (
        sa.select(*columns).select_from(joined).where(home, readable(), *filter_conditions(shape))
    )
