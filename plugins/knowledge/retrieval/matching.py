"""Which documents match a question at all: what the facets of a search are counted over.

With a model a document matches where its score reaches the floor below which nothing would fit
(:data:`~plugins.knowledge.retrieval.floor.FLOOR`); by words alone, where it holds one of the
question's words. A result is among them in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gateway.contract import Collection, VectorQuery
from plugins.knowledge.retrieval.floor import FLOOR
from plugins.knowledge.retrieval.points import MEANING, TERMS, WHOLE, placed
from plugins.knowledge.retrieval.relevance import PERFECT, Hits, rank

MAX_POINTS = 5000
"""Passages and heads that are weighed, the nearest first: of about 500 documents."""


async def matching(
    collection: Collection,
    queries: Mapping[str, VectorQuery],
    named: frozenset[str],
    documents: int,
) -> set[str]:
    """The keys of all documents that match.

    Args:
        collection: what answers.
        queries: what the question is compared with there, and what narrows it.
        named: keys of documents whose name the question is.
        documents: how many documents there are.
    """
    wide = [replace(one, limit=MAX_POINTS, payload=()) for one in queries.values()]
    answers = map(placed, await collection.search(wide))
    found = dict(zip(queries, answers, strict=True))
    if MEANING not in found:
        return {*named, *(hit.payload["key"] for hits in found.values() for hit in hits)}
    by_words = Hits([], [], found.get(TERMS, []), found.get(WHOLE, []), named)
    hits = by_words.measured(found[MEANING])
    # No phrase is sought: what holds the question word for word scores above the floor anyway.
    return {one.key for one in rank("", hits, documents) if one.score >= FLOOR * PERFECT}
