"""How good the ranking is: BM25 alone, similarity alone and the product, on judged questions."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.judged import (
    OWN_QUESTIONS,
    Question,
    Score,
    data_directory,
    judged,
    known_items,
    mean,
    ndcg,
    recall,
    reciprocal_rank,
)
from benchmarks.library import Library, library
from benchmarks.table import Bar, Row
from gateway.contract import Condition, Hit, Tier, VectorQuery
from gateway.services.embedding import all_mpnet
from plugins.knowledge.retrieval import bm25
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.points import MEANING, TERMS

SECTION = "search_quality"
MEASURES: Mapping[str, Callable[[Sequence[str], Question], float]] = {
    "nDCG@5": ndcg,
    "recall@5": recall,
    "MRR": reciprocal_rank,
}
PRODUCT = "product"
LARGER = "product with the larger model"
_HITS = 200

Searcher = Callable[[str], Awaitable[list[str]]]


def measure() -> list[Row]:
    """Index civic-kb and score the three rankings on every kind of question.

    Where the larger English model is installed, what the product makes of it is scored too.
    """
    found: list[Row] = []
    for embedding in ["embedded"] + ["english"] * all_mpnet.is_installed():
        with tempfile.TemporaryDirectory() as data:
            found += asyncio.run(_measure(data_directory(), Path(data), embedding))
    return found


async def _measure(sets: Path, data: Path, embedding: str) -> list[Row]:
    async with library(sets / "civic-kb" / "repo", data, embedding) as opened:
        await opened.sync.run()
        if embedding == "embedded":
            return await rows(opened, sets)
        return await larger_rows(opened, sets)


async def larger_rows(opened: Library, sets: Path) -> list[Row]:
    """Score what the product finds in civic-kb, indexed with the larger model.

    Args:
        opened: the knowledge base.
        sets: the directory of data sets.
    """
    search = _searchers(opened)[PRODUCT]
    found: list[Row] = []
    kinds = {
        "given questions": judged(sets / "civic-kb" / "queries.json"),
        "questions of our own": judged(OWN_QUESTIONS),
    }
    for kind, questions in kinds.items():
        scores = {LARGER: await _scores(search, questions)}
        found += _rows(f"{len(questions)} {kind}", "nDCG@5", 0.65, scores)
    return found


async def rows(opened: Library, sets: Path) -> list[Row]:
    """Score the three rankings of an indexed civic-kb.

    Args:
        opened: the knowledge base.
        sets: the directory of data sets.
    """
    store = opened.knowledge.store
    keys = [entry.key for entry in store.entries(Tier.MEMBERS)]
    documents = [one for one in await store.documents(keys, Tier.MEMBERS) if one]
    kinds = {
        "given questions": ("nDCG@5", 0.60, judged(sets / "civic-kb" / "queries.json")),
        "questions of our own": ("nDCG@5", None, judged(OWN_QUESTIONS)),
        "known items": ("MRR", 0.95, known_items(documents)),
    }
    found: list[Row] = []
    for kind, (deciding, least, questions) in kinds.items():
        scores = {
            name: await _scores(searcher, questions)
            for name, searcher in _searchers(opened).items()
        }
        found += _rows(f"{len(questions)} {kind}", deciding, least, scores)
    return found


def _rows(
    kind: str, deciding: str, least: float | None, scores: Mapping[str, Mapping[str, Score]]
) -> list[Row]:
    """One row for each ranking and measure; the product has the bars, on the deciding measure."""
    found = []
    for name, by_measure in scores.items():
        for measure, score in by_measure.items():
            decides = name in (PRODUCT, LARGER) and measure == deciding
            others = [by[measure].mean for other, by in scores.items() if other != name]
            bar = max([least or 0.0, *others]) if decides else None
            found.append(
                Row(
                    SECTION,
                    f"{kind}, {name}: {measure}",
                    round(score.mean, 3),
                    bar=None if bar is None else Bar("at least", round(bar, 3)),
                    note=f"95 % {score.low:.2f} to {score.high:.2f}",
                    headline=decides,
                )
            )
    return found


async def _scores(searcher: Searcher, questions: Sequence[Question]) -> dict[str, Score]:
    rankings = [await searcher(question.text) for question in questions]
    return {
        name: mean([score(ranking, one) for ranking, one in zip(rankings, questions, strict=True)])
        for name, score in MEASURES.items()
    }


def _searchers(opened: Library) -> dict[str, Searcher]:
    collection, embedder = opened.knowledge.index.collection, opened.host.embedder
    everything = SearchFilters(limit=MAX_RESULTS)
    passages = (Condition("ordinal", at_least=1),)

    async def by_words(question: str) -> list[str]:
        asked = VectorQuery(TERMS, bm25.query(question), (), _HITS, ("key",))
        return _documents(*await collection.search([asked]))

    async def by_meaning(question: str) -> list[str]:
        assert embedder is not None
        asked = VectorQuery(MEANING, await embedder.query(question), passages, _HITS, ("key",))
        return _documents(*await collection.search([asked]))

    async def product(question: str) -> list[str]:
        found = await opened.knowledge.search(question, everything, Tier.MEMBERS)
        return [f"{one.content_type}/{one.id}" for one in found.results]

    return {"BM25 alone": by_words, "dense alone": by_meaning, PRODUCT: product}


def _documents(hits: Sequence[Hit]) -> list[str]:
    """The documents of hits on their passages, each at its best hit's place."""
    return list(dict.fromkeys(hit.payload["key"] for hit in hits))[:MAX_RESULTS]
