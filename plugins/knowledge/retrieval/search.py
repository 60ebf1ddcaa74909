"""Two-stage retrieval (knowledge server specification, section 6).

First the store finds candidates, by similarity of passages and heads and by BM25, and
``relevance.py`` weighs them; then, where the portal has a reranker, a cross-encoder orders the best
twenty. ``quotes.py`` picks the passages that are shown. Documents are fetched for the final results
only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from gateway.contract import Condition, Embedder, Host, Sparse, Tier, VectorQuery
from plugins.knowledge.facets import NARROWING, counted
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.permalinks import Permalinks
from plugins.knowledge.results import QuotedPassage, SearchResult, SearchResults
from plugins.knowledge.retrieval import bm25, foreign_questions, rerank
from plugins.knowledge.retrieval.asked import PAYLOAD, Asked
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.floor import (
    FLOOR,
    least_score,
    nothing_fits,
    reaches,
    scripts_of,
    tells_languages,
)
from plugins.knowledge.retrieval.foreign_questions import ForeignQuestion, stop_words_of
from plugins.knowledge.retrieval.holding import (
    Found,
    best_first,
    holding_first,
    one_version_each,
    with_successors,
)
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.retrieval.own_language import language_weights
from plugins.knowledge.retrieval.points import MEANING, TERMS, WHOLE
from plugins.knowledge.retrieval.questions import check_question
from plugins.knowledge.retrieval.quotes import quotes, shown
from plugins.knowledge.retrieval.readable import UNREAD_NOTE, reads
from plugins.knowledge.retrieval.relevance import PERFECT, Candidate
from plugins.knowledge.retrieval.versions import Versions
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_MAX_NEAR = 80
"""Heads and passages together."""
_MAX_TERM_HITS = 30
"""Passages and heads that are found by words, and as many whole documents."""
_MAX_LIKELY = 30
"""The documents whose points are all compared: more than are shown, as what is compared moves."""
_ANEW_NOTE = (
    "The index is being made anew, for another model or version: until it is whole, results are "
    "found by words alone."
)
_FORMER_NOTE = (
    "The index is being made anew, for another model: until it is whole, the one before answers."
)
_KEYWORD_NOTE = "This portal has no embedding model: results are found by words alone."


class Search:
    """Answers questions over the index.

    Args:
        host: the services.
        store: the catalogue and the documents.
        index: the index.
        names: what documents are called.
        permalinks: where documents stand.
        standings: which documents hold.

    Attributes:
        unfinished: what answers say while a part of the base is not indexed; else an empty text.
    """

    unfinished: Callable[[], str] = staticmethod(str)

    def __init__(
        self,
        host: Host,
        store: Store,
        index: Index,
        names: Names,
        permalinks: Permalinks,
        standings: Standings,
    ) -> None:
        self._host = host
        self._store = store
        self._index = index
        self._names = names
        self._permalinks = permalinks
        self._standings = standings
        self._versions = Versions(store)
        self._scripts: dict[Tier, tuple[Sequence[DocumentEntry], frozenset[str]]] = {}

    async def __call__(
        self,
        question: str,
        filters: SearchFilters,
        up_to: Tier,
        *,
        documents: bool = False,
        meaning: Vector | bool = True,
        floor: bool = True,
        facets: bool = False,
    ) -> SearchResults:
        """Find the documents that answer a question.

        Args:
            question: in natural language, or a name.
            filters: what to narrow the search to, its order and its length.
            up_to: the tier of the caller; nothing above it is found.
            documents: whether each result carries its whole document.
            meaning: whether the portal's model compares meanings; or the question's vector, where
                it has made it already.
            floor: whether an answer that nothing fits is empty, and names what is nearest; else
                the nearest are its results.
            facets: whether to count what one can narrow to, over all that match.

        Raises:
            ToolFailed: ``invalid_query``: empty, over 2,000 characters, or with control
                characters.
        """
        question = check_question(question)
        asked = await self._asked(question, filters, up_to, meaning)
        nearest, found = await self._found(asked, filters, up_to, floor=floor)
        matches = await self._matching(asked, found, filters, up_to) if facets else None
        if not found:
            return self._answer([], matches, asked, nothing_fits(one.entry for one in nearest))
        found = await self._ordered(question, found, filters, up_to, asked)
        quoted = await self._quoted(found[: filters.limit], asked)
        results = [self._result(asked, one, up_to) for one in quoted]
        results = await self._with_documents(results, up_to) if documents else results
        return self._answer(results, matches, asked, "")

    def _answer(
        self,
        results: list[SearchResult],
        matches: Sequence[DocumentEntry] | None,
        asked: Asked,
        note: str,
    ) -> SearchResults:
        """The answer; what matches is counted, unless it is None."""
        anew = (_FORMER_NOTE if asked.by_meaning else _ANEW_NOTE) if asked.anew else None
        without_model = _KEYWORD_NOTE if self._host.embedder is None else None
        unread = None if asked.is_read else UNREAD_NOTE
        foreign = foreign_questions.NOTE if asked.foreign else None
        notes = [note, self.unfinished(), anew, without_model, unread, foreign]
        return SearchResults(
            results=results,
            mode="hybrid" if asked.by_meaning else "keyword",
            facets=None if matches is None else counted(matches, NARROWING),
            matching=None if matches is None else len(matches),
            note=" ".join(filter(None, notes)) or None,
        )

    async def _asked(
        self, question: str, filters: SearchFilters, up_to: Tier, meaning: Vector | bool
    ) -> Asked:
        former = await self._index.former(len(self._store.entries(Tier.MEMBERS)))
        model = self._host.embedder if former is None else former.embedder
        is_read = model is None or reads(model.model, question)
        says_something = any(each.isalnum() for each in question)  # signs alone mean nothing
        embedder = model if is_read and says_something and meaning is not False else None
        foreign = ForeignQuestion.of(embedder.model, question) if embedder else None
        where = self._where(filters, up_to)
        languages = await self._index.languages(self._store.version)
        other_names = self._names.other_names(question, up_to)
        stop_words = stop_words_of(foreign, "" if is_read else question)
        sparse = bm25.query(question, languages, other_names, stop_words)
        queries = self._by_words(sparse, where, whole=former is None or model is not None)
        if embedder is not None:
            # The vector that the portal's model made says nothing to the one before.
            if isinstance(meaning, bool) or former is not None:
                meaning = await embedder.query(question)
            limit = _MAX_NEAR * self._versions.wider
            queries[MEANING] = VectorQuery(MEANING, meaning, where, limit)
        return Asked(
            question=question,
            collection=self._index.collection if former is None else former.collection,
            queries=queries,
            where=where,
            languages=languages,
            documents=len(self._store.entries(up_to)),
            named=frozenset(one.key for one in self._names.find(question, up_to)),
            tagged=frozenset(one.key for one in self._names.tagged(question, up_to)),
            numbered=frozenset(one.key for one in self._names.numbered(question, up_to)),
            code=self._names.coded(question, up_to),
            anew=former is not None,
            is_read=is_read,
            foreign=foreign,
            stop_words=stop_words,
            least=self._least(embedder, question, languages, up_to),
            about=lambda key: entry.about if (entry := self._store.entry(key, up_to)) else "",
        )

    def _by_words(
        self, sparse: Sparse, where: tuple[Condition, ...], *, whole: bool
    ) -> dict[str, VectorQuery]:
        """What finds passages by the words of a question; and whole documents, where these are."""
        if not sparse.indices:
            return {}
        limit = _MAX_TERM_HITS * self._versions.wider
        queries = {TERMS: VectorQuery(TERMS, sparse, where, limit, PAYLOAD)}
        return queries | ({WHOLE: VectorQuery(WHOLE, sparse, where, limit)} if whole else {})

    def _least(
        self, embedder: Embedder | None, question: str, languages: Sequence[str], up_to: Tier
    ) -> float:
        """The score that the best document has to have."""
        if not tells_languages(embedder.model if embedder else None):
            return FLOOR
        entries, known = self._store.entries(up_to), self._scripts.get(up_to)
        if known is None or known[0] is not entries:
            known = self._scripts[up_to] = entries, scripts_of(entries)
        return least_score(question, languages, known[1])

    def _where(self, filters: SearchFilters, up_to: Tier) -> tuple[Condition, ...]:
        # Where nothing is hidden from this tier, the store need not check it for each passage,
        # which takes a third of its time; `_visible` asks the catalogue again in any case.
        entries = self._store.entries
        hides_nothing = len(entries(up_to)) == len(entries(Tier.MEMBERS))
        where = filters.conditions(Tier.MEMBERS if hides_nothing else up_to)
        # The index knows what notes say; what tiers.yaml says beside that, and what supersedes
        # what, changes any time.
        if (not hides_nothing and self._store.withholds(up_to)) or filters.as_of is not None:
            held = (one.key for one in entries(up_to) if self._held(one, filters, up_to))
            where = (*where, Condition("key", any_of=tuple(held)))
        return where

    async def _found(
        self, asked: Asked, filters: SearchFilters, up_to: Tier, *, floor: bool
    ) -> tuple[list[Found], list[Found]]:
        """What is nearest, and of that what answers; each the best first."""
        hits = await asked.nearest()
        likely = _MAX_LIKELY * self._versions.wider
        first = islice(self._visible(asked.weighed(hits), filters, up_to), likely)
        measured = await asked.measured(hits, {one.entry.key for one in first})
        nearest = fitting = list(self._visible(measured, filters, up_to))
        if floor and not any(reaches(one.candidate, asked.least) for one in nearest):
            said = await asked.saying({one.entry.key for one in nearest})
            fitting = [one for one in nearest if one.entry.key in said]
        nearest, fitting = (self._one_each(asked.question, some) for some in (nearest, fitting))
        return nearest[:MAX_RESULTS], fitting[:MAX_RESULTS]

    def _one_each(self, question: str, found: list[Found]) -> list[Found]:
        """What was found, with one version of each page."""
        scores = {one.entry.key: one.candidate.score for one in found}
        return one_version_each(found, self._versions.one_each(question, scores))

    async def _matching(
        self, asked: Asked, found: Sequence[Found], filters: SearchFilters, up_to: Tier
    ) -> list[DocumentEntry]:
        """All documents that match: that reach the floor, or say enough of what was asked."""
        weighed = (*await asked.everything(), *(one.candidate for one in found))
        reaching = {one.key for one in weighed if reaches(one, asked.least)}
        keys = await asked.saying() | reaching
        entries = (self._store.entry(key, up_to) for key in keys)
        admitted = {one.key: one for one in entries if one and self._admitted(one, filters, up_to)}
        others = self._versions.one_each(asked.question, dict.fromkeys(admitted, 1.0))
        return [one for key, one in admitted.items() if others.get(key, key) == key]

    def _visible(
        self, ranked: Iterable[Candidate], filters: SearchFilters, up_to: Tier
    ) -> Iterator[Found]:
        """The candidates that the catalogue still shows to this tier, and the filters admit."""
        for candidate in ranked:
            entry = self._store.entry(candidate.key, up_to)
            if entry is not None and self._admitted(entry, filters, up_to):
                yield Found(candidate, entry)

    def _admitted(self, entry: DocumentEntry, filters: SearchFilters, up_to: Tier) -> bool:
        return filters.admits(entry) and self._held(entry, filters, up_to)

    def _held(self, entry: DocumentEntry, filters: SearchFilters, up_to: Tier) -> bool:
        moment = filters.as_of
        return moment is None or self._standings.held_at(entry, moment, up_to)

    async def _ordered(
        self,
        question: str,
        found: list[Found],
        filters: SearchFilters,
        up_to: Tier,
        asked: Asked,
    ) -> list[Found]:
        """What was found, in the order that was asked for; by relevance, what holds first."""
        by_standing = filters.sort == "relevance" and filters.as_of is None
        places = {one.entry.key: self._standings.in_place_of(one.entry, up_to) for one in found}
        if by_standing:
            found = with_successors(found, places, filters.admits)
        found = await self._judged(question, found, asked)
        if filters.sort == "date":
            return sorted(found, key=lambda one: one.entry.written, reverse=True)
        keys = {one.entry.key for one in found}
        own, wanted = (
            await language_weights(asked, keys),
            self._versions.weights(question, keys, up_to),
        )
        weights = {key: own.get(key, 1.0) * wanted.get(key, 1.0) for key in keys}
        if not by_standing:
            return best_first(found, weights)
        succeeding = {one.entry.key: self._standings.succeeding(one.entry, up_to) for one in found}
        standing = {one.entry.key: self._standings.weight(one.entry, up_to) for one in found}
        weights = {key: weight * weights.get(key, 1.0) for key, weight in standing.items()}
        return holding_first(found, succeeding, weights)

    async def _quoted(self, found: Sequence[Found], asked: Asked) -> list[Found]:
        """What was found, with the passages that are shown of it."""
        missing = [one.entry.key for one in found if not one.quotes]
        picked = await quotes(asked, missing)
        return [replace(one, quotes=one.quotes or picked.get(one.entry.key, ())) for one in found]

    async def _judged(self, question: str, found: list[Found], asked: Asked) -> list[Found]:
        """The candidates as the reranker orders them, or as they are without one."""
        if (reranker := self._host.reranker) is None:
            return found
        found = await self._quoted(found, asked)
        passages = [
            f"{one_line(one.entry.title)}\n"
            + (one.quotes[0].headed if one.quotes else one.entry.description)
            for one in found
        ]
        judged = await rerank.scores(reranker, self._host.cache, question, passages)
        rated = [replace(one, rating=rating) for one, rating in zip(found, judged, strict=True)]
        return sorted(rated, key=lambda one: -(one.rating or 0.0))

    def _result(self, asked: Asked, found: Found, up_to: Tier) -> SearchResult:
        entry = found.entry
        quoted, further = shown(found.quotes) if found.quotes else (None, ())
        best = quoted.citing(asked) if quoted else None
        version, others = self._versions.of(entry, up_to)
        return SearchResult(
            title=one_line(entry.title),
            content_type=entry.content_type,
            id=entry.id,
            description=entry.description or None,
            passage=best.whole if best else None,
            section=list(best.section) or None if best else None,
            passages=[
                QuotedPassage(
                    text=excerpt(one.headed, asked.question),
                    section=list(one.section) or None,
                    permalink=self._permalinks.of(entry, one.place),
                )
                for one in (each.citing(asked) for each in further)
            ]
            or None,
            group=entry.group or None,
            status=entry.status or None,
            tags=list(entry.tags) or None,
            version=version or None,
            other_versions=others or None,
            path=entry.path,
            commit=entry.commit_sha or None,
            permalink=self._permalinks.of(entry, best.place if best else None),
            date=entry.metadata.date,
            synced_at=entry.synced_at,
            score=round(_score(found), 4),
            rerank_score=None if found.rating is None else round(found.rating, 4),
            standing=self._standings.of(entry, up_to),
        )

    async def _with_documents(self, results: list[SearchResult], up_to: Tier) -> list[SearchResult]:
        """The results whose documents are still there, each with its own."""
        keys = [f"{one.content_type}/{one.id}" for one in results]
        fetched = await self._store.documents(keys, up_to)
        for result, document in zip(results, fetched, strict=True):
            result.document = document
        return [result for result in results if result.document is not None]


def _score(found: Found) -> float:
    return min(1.0, max(0.0, found.candidate.score / PERFECT))
