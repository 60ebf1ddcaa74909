"""Two-stage retrieval (knowledge server specification, section 6).

First the store finds candidates, by similarity of passages and heads and by BM25, and
``relevance.py`` weighs them; then, where the portal has a reranker, a cross-encoder orders the best
twenty. Documents are fetched for the final results only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.contract import Condition, Host, Tier, ToolFailed, VectorQuery
from plugins.knowledge.notes.documents import Entry
from plugins.knowledge.results import SearchResult, SearchResults
from plugins.knowledge.retrieval import bm25, rerank
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.floor import fits, nothing_fits
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.retrieval.points import HEAD, PASSAGE, TERMS
from plugins.knowledge.retrieval.relevance import PERFECT, Candidate, Hits, rank
from plugins.knowledge.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

MAX_QUESTION_CHARACTERS = 2000
_MAX_PASSAGES = 50
_MAX_HEADS = 30
_MAX_TERM_HITS = 30
_PAYLOAD = ("key", "text")
_KEYWORD_NOTE = "This portal has no embedding model: results are found by words alone."


@dataclass(frozen=True, slots=True)
class _Found:
    candidate: Candidate
    entry: Entry
    rating: float | None = None


class Search:
    """Answers questions over the index.

    Args:
        host: the services.
        store: the catalogue and the documents.
        index: the index.
        names: what documents are called.

    Attributes:
        unfinished: what answers say while a part of the base is not indexed; else an empty text.
    """

    unfinished: Callable[[], str] = staticmethod(str)

    def __init__(self, host: Host, store: Store, index: Index, names: Names) -> None:
        self._host = host
        self._store = store
        self._index = index
        self._names = names

    async def __call__(
        self,
        question: str,
        filters: SearchFilters,
        up_to: Tier,
        *,
        documents: bool = False,
        vector: Vector | None = None,
        floor: bool = True,
    ) -> SearchResults:
        """Find the documents that answer a question.

        Args:
            question: in natural language, or a name.
            filters: what to narrow the search to, its order and its length.
            up_to: the tier of the caller; nothing above it is found.
            documents: whether each result carries its whole document.
            vector: the question's, where the portal's model has made it already.
            floor: whether an answer that nothing fits is empty, and names what is nearest; else
                the nearest are its results.

        Raises:
            ToolFailed: ``invalid_query``: empty, over 2,000 characters, or with control
                characters.
        """
        question = check_question(question)
        hits = await self._hits(question, filters, up_to, vector)
        ranked = rank(question, hits, len(self._store.entries(up_to)))
        found = self._visible(ranked, up_to)
        far = [] if not floor or self._fits(question, found, hits) else [one.entry for one in found]
        found = [] if far else await self._judged(question, found)
        if filters.sort == "date":
            found.sort(key=lambda one: one.entry.metadata.date, reverse=True)
        results = [_result(question, one) for one in found[: filters.limit]]
        keyword = self._host.embedder is None
        notes = [
            None if found else nothing_fits(far),
            self.unfinished(),
            _KEYWORD_NOTE if keyword else None,
        ]
        return SearchResults(
            results=await self._with_documents(results, up_to) if documents else results,
            mode="keyword" if keyword else "hybrid",
            note=" ".join(filter(None, notes)) or None,
        )

    def _fits(self, question: str, found: Sequence[_Found], hits: Hits) -> bool:
        best = max((_score(one) for one in found), default=0.0)
        by_meaning = self._host.embedder is not None
        return fits(question, best, [one.entry for one in found], hits, by_meaning=by_meaning)

    async def _hits(
        self, question: str, filters: SearchFilters, up_to: Tier, vector: Vector | None
    ) -> Hits:
        # Where nothing is hidden from this tier, the store need not check it for each passage,
        # which takes a third of its time; `_visible` asks the catalogue again in any case.
        entries = self._store.entries
        hides_nothing = len(entries(up_to)) == len(entries(Tier.MEMBERS))
        where = filters.conditions(Tier.MEMBERS if hides_nothing else up_to)
        if not hides_nothing and self._store.withholds(up_to):
            # The index knows what notes say; what tiers.yaml says beside that changes any time.
            where = (*where, Condition("key", any_of=tuple(one.key for one in entries(up_to))))
        sparse = bm25.query(question)
        named = frozenset(
            entry.key for entry in self._names.find(question, up_to) if filters.admits(entry)
        )
        asked = {}
        if sparse.indices:
            asked[TERMS] = VectorQuery(TERMS, sparse, where, _MAX_TERM_HITS, _PAYLOAD)
        if self._host.embedder is not None:
            if vector is None:
                vector = await self._host.embedder.query(question)
            asked[PASSAGE] = VectorQuery(PASSAGE, vector, where, _MAX_PASSAGES, _PAYLOAD)
            asked[HEAD] = VectorQuery(HEAD, vector, where, _MAX_HEADS, ("key",))
        answers = await self._index.collection.search(list(asked.values()))
        found = dict(zip(asked, answers, strict=True))
        return Hits(found.get(PASSAGE, []), found.get(HEAD, []), found.get(TERMS, []), named)

    def _visible(self, ranked: Sequence[Candidate], up_to: Tier) -> list[_Found]:
        """The best candidates that the catalogue still shows to this tier."""
        found = []
        for candidate in ranked:
            if entry := self._store.entry(candidate.key, up_to):
                found.append(_Found(candidate, entry))
            if len(found) == MAX_RESULTS:
                break
        return found

    async def _judged(self, question: str, found: list[_Found]) -> list[_Found]:
        """The candidates as the reranker orders them, or as they are without one."""
        if (reranker := self._host.reranker) is None:
            return found
        passages = [
            f"{one_line(one.entry.title)}\n{one.candidate.passage or one.entry.description}"
            for one in found
        ]
        judged = await rerank.scores(reranker, self._host.cache, question, passages)
        rated = [replace(one, rating=rating) for one, rating in zip(found, judged, strict=True)]
        return sorted(rated, key=lambda one: -(one.rating or 0.0))

    async def _with_documents(self, results: list[SearchResult], up_to: Tier) -> list[SearchResult]:
        """The results whose documents are still there, each with its own."""
        keys = [f"{one.content_type}/{one.id}" for one in results]
        fetched = await self._store.documents(keys, up_to)
        for result, document in zip(results, fetched, strict=True):
            result.document = document
        return [result for result in results if result.document is not None]


def check_question(question: str) -> str:
    """A question fit to be searched for, without spaces around it.

    Raises:
        ToolFailed: ``invalid_query``, with what to do about it.
    """
    question = question.strip()
    if not question:
        raise ToolFailed("invalid_query", "The query is empty; say what to look for.")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise ToolFailed(
            "invalid_query",
            f"The query has {len(question)} characters; {MAX_QUESTION_CHARACTERS} is the limit. "
            "Ask in a sentence or two.",
        )
    if plain(question) != question:
        raise ToolFailed("invalid_query", "The query holds control characters; send plain text.")
    return question


def plain(text: str) -> str:
    """A text with a space for each control character that is no spacing."""
    return "".join(" " if _is_control(one) else one for one in text)


def _is_control(one: str) -> bool:
    return unicodedata.category(one) in ("Cc", "Cs") and one not in "\t\r\n"


def _score(found: _Found) -> float:
    return min(1.0, max(0.0, found.candidate.score / PERFECT))


def _result(question: str, found: _Found) -> SearchResult:
    entry, candidate = found.entry, found.candidate
    return SearchResult(
        title=one_line(entry.title),
        content_type=entry.content_type,
        id=entry.id,
        description=entry.description or None,
        passage=excerpt(candidate.passage, question) if candidate.passage else None,
        group=entry.group or None,
        status=entry.status or None,
        tags=list(entry.tags) or None,
        path=entry.path,
        date=entry.metadata.date,
        synced_at=entry.synced_at,
        score=round(_score(found), 4),
        rerank_score=None if found.rating is None else round(found.rating, 4),
    )
