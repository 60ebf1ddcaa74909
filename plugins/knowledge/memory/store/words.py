"""Keyword search in the database: BM25 over the words of entries, on SQLite and PostgreSQL alike.

score(q, d) = sum over the terms t of q of IDF(t) * weight(t, d), with the weights of
``retrieval/bm25.py`` and IDF(t) = ln(1 + (n - df + 0.5) / (df + 0.5)). How rare a term is counts
among the entries that the caller may read alone: a score must not tell what others keep.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plugins.knowledge.retrieval import bm25

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement
    from sqlalchemy.ext.asyncio import AsyncConnection

AVERAGE = 50.0
"""Terms of an entry, about; a constant, so that no score depends on others' entries."""
FEWEST = 1000
"""How many entries there are taken to be, at least: counting them costs more than a search."""
MOST_TERMS = 32
"""Terms of a question that count: the first ones."""


def weights(text: str) -> dict[int, float]:
    """The terms of an entry and their weights."""
    sparse = bm25.document(text, AVERAGE)
    return dict(zip(sparse.indices, sparse.values, strict=True))


def asked(question: str) -> tuple[int, ...]:
    """The terms of a question."""
    return bm25.query(question).indices[:MOST_TERMS]


async def best(
    connection: AsyncConnection,
    terms: Sequence[int],
    seen: Sequence[ColumnElement[bool]],
    limit: int,
) -> list[Any]:
    """The rows that have the terms, best first.

    Args:
        connection: to read by.
        terms: of the question.
        seen: the conditions on entries: who may read them, and what they must be.
        limit: how many at most.

    Returns:
        Rows of ``id``, ``created``, ``updated`` and ``score``.
    """
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries, words

    rare = await _rarities(connection, terms, seen)
    if not rare:
        return []
    worth = sa.case(
        *((words.c.term == term, words.c.weight * rarity) for term, rarity in rare.items()),
        else_=0.0,
    )
    score = sa.func.sum(worth).label("score")
    shown = (entries.c.id, entries.c.created, entries.c.updated)
    found = (
        sa.select(*shown, score)
        .join(words, words.c.entry == entries.c.number)
        .where(words.c.term.in_(list(rare)), *seen)
        .group_by(entries.c.number, *shown)
        .order_by(score.desc(), entries.c.id)
        .limit(limit)
    )
    return list(await connection.execute(found))


async def _rarities(
    connection: AsyncConnection, terms: Sequence[int], seen: Sequence[ColumnElement[bool]]
) -> Mapping[int, float]:
    """How much each term tells, among what the caller may read; terms of nothing are left out."""
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.tables import entries, words

    if not terms:
        return {}
    having = (
        sa.select(words.c.term, sa.func.count())
        .join(entries, words.c.entry == entries.c.number)
        .where(words.c.term.in_(list(terms)), *seen)
        .group_by(words.c.term)
    )
    counts = {row[0]: row[1] for row in await connection.execute(having)}
    total = max(FEWEST, *counts.values()) if counts else FEWEST
    return {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }
