"""Keyword search in the database: BM25 over the words of entries, on SQLite and PostgreSQL alike.

score(q, d) = sum over the terms t of q of IDF(t) * weight(t, d), with the weights of
``retrieval/bm25.py`` and IDF(t) = ln(1 + (n - df + 0.5) / (df + 0.5)). How rare a term is counts
among the entries that the caller may read alone: a score must not tell what others keep.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.bm25 import rarity
from gateway.toolkit.sql import among_parameter
from gateway.toolkit.words import STOP_WORDS
from plugins.knowledge.memory.store.tables import entries, words
from plugins.knowledge.memory.store.visibility import FilterShape, filter_conditions, readable
from plugins.knowledge.retrieval import bm25

AVERAGE_TERMS = 50.0
"""Terms of an entry, about; a constant, so that no score depends on others' entries."""
MIN_ENTRIES = 1000
"""The least number of entries in the IDF: counting the readable ones costs more than a search."""
MAX_TERMS = 32
"""Terms of a question that count: the first ones."""

_MOMENTS = ("created", "updated", "event_at", "valid_from", "valid_until")
_SHOWN = ("id", "version", "number", "follows", "taken_from", "challenged", *_MOMENTS)
SHOWN = tuple(entries.c[name] for name in _SHOWN)
"""What is known of an entry before it is read."""


def weights(text: str) -> dict[int, float]:
    """The terms of an entry and their weights."""
    sparse = bm25.document(text, AVERAGE_TERMS)
    return dict(zip(sparse.indices, sparse.values, strict=True))


def term_ids(question: str, stop_words: Collection[str] = STOP_WORDS) -> tuple[int, ...]:
    """The terms of a question, without some words."""
    return bm25.query(question, stop_words=stop_words).indices[:MAX_TERMS]


async def rarities(
    connection: AsyncConnection,
    terms: Sequence[int],
    shape: FilterShape,
    values: Mapping[str, Any],
) -> Mapping[int, float]:
    """How much each term of a question tells, of those that entries of a layer have.

    Args:
        connection: to read by.
        terms: of the question.
        shape: which filters it has.
        values: the layer, who asks, and what the filters name (``visibility.py``).
    """
    if not terms:
        return {}
    having = await connection.execute(_document_counts(shape), {**values, "terms": terms})
    return _rarities({row[0]: row[1] for row in having})


async def search(
    connection: AsyncConnection,
    rare: Mapping[int, float],
    shape: FilterShape,
    values: Mapping[str, Any],
    limit: int,
    among: Sequence[int] = (),
) -> list[Any]:
    """The rows of a layer that have the terms, best first.

    Args:
        connection: to read by.
        rare: what :func:`rarities` says of the terms.
        shape: which filters the question has.
        values: as there.
        limit: how many at most.
        among: the numbers of the only entries that are looked at; all where there are none.

    Returns:
        Rows of :data:`SHOWN`, ``score``, and how many of the terms each has (``said``).
    """
    if not rare:
        return []
    weighed: dict[str, Any] = {f"term_{place}": term for place, term in enumerate(rare)}
    weighed |= {f"rarity_{place}": rarity for place, rarity in enumerate(rare.values())}
    asked = {**values, "terms": rare, "most": limit, **weighed}
    if among:
        asked["among"] = among
    return list(await connection.execute(_weighed(shape, len(rare), bool(among)), asked))


@lru_cache(maxsize=256)
def _document_counts(shape: FilterShape) -> Select[Any]:
    """How many entries have each of the terms, of those that the caller may read."""
    return _found(shape, words.c.term, sa.func.count()).group_by(words.c.term)


@lru_cache(maxsize=256)
def _weighed(shape: FilterShape, terms: int, among: bool) -> Select[Any]:
    """The entries with so many terms, by what these tell together."""

    def worth(place: int) -> Any:
        rarity = sa.bindparam(f"rarity_{place}", type_=words.c.weight.type)
        return words.c.term == sa.bindparam(f"term_{place}"), words.c.weight * rarity

    score = sa.func.sum(sa.case(*map(worth, range(terms)), else_=0.0)).label("score")
    found = _found(shape, *SHOWN, score, sa.func.count().label("said"))
    if among:
        found = found.where(among_parameter(words.c.entry, "among"))
    return (
        found.group_by(entries.c.number)
        .order_by(score.desc(), entries.c.id)
        .limit(sa.bindparam("most"))
    )


def _found(shape: FilterShape, *columns: Any) -> Select[Any]:
    named = among_parameter(words.c.term, "terms")
    own = words.c.layer == sa.bindparam("layer")
    joined = words.join(entries, words.c.entry == entries.c.number)
    found = sa.select(*columns).select_from(joined)
    return found.where(own, named, readable(), *filter_conditions(shape))


def _rarities(counts: Mapping[int, int]) -> Mapping[int, float]:
    """How much each term tells, given how many of the readable entries have it."""
    total = max(MIN_ENTRIES, *counts.values()) if counts else MIN_ENTRIES
    return {term: rarity(total, count) for term, count in counts.items()}
