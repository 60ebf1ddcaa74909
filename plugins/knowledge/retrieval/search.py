"""Two-stage retrieval (knowledge server specification, section 6).

First the store finds candidates, by similarity of passages and heads and by BM25, and
``relevance.py`` weighs them; then, where the portal has a reranker, a cross-encoder orders the best
twenty. ``quotes.py`` picks the passages that are shown. Documents are fetched for the final results
only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.contract import Collection, Condition, Hit, Host, Tier, VectorQuery
from plugins.knowledge.facets import NARROWING, counted
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.permalinks import Permalinks
from plugins.knowledge.results import QuotedPassage, SearchResult, SearchResults
from plugins.knowledge.retrieval import bm25, rerank
from plugins.knowledge.retrieval.excerpts import excerpt
from plugins.knowledge.retrieval.filters import MAX_RESULTS, SearchFilters
from plugins.knowledge.retrieval.floor import FLOOR, fitting, nothing_fits
from plugins.knowledge.retrieval.holding import Found, holding_first, with_successors
from plugins.knowledge.retrieval.index import Index
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.matching import matching
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.retrieval.points import MEANING, TERMS, WHOLE, placed
from plugins.knowledge.retrieval.questions import check_question
from plugins.knowledge.retrieval.quotes import further, quotes
from plugins.knowledge.retrieval.readable import reads
from plugins.knowledge.retrieval.relevance import PERFECT, Candidate, Hits, rank
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
_MAX_MEASURED = 600
"""Heads and passages of candidates that are compared."""
_PAYLOAD = ("key", "text", "section", "under", "ordinal", "language")
_ANEW_NOTE = (
    "The index is being made anew, for another model or version: until it is whole, results are "
    "found by words alone."
)
_KEYWORD_NOTE = "This portal has no embedding model: results are found by words alone."
_UNREAD_NOTE = (
    "This portal's embedding model cannot read the script of the question: results are found by "
    "words alone."
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question put to the index.

    Attributes:
        collection: what answers it.
        queries: what it is compared with there.
        languages: those of the documents.
        anew: whether a former collection answers, by words.
        is_read: whether the model can read the question; else no meanings are compared.
    """

    collection: Collection
    queries: Mapping[str, VectorQuery]
    languages: tuple[str, ...]
    anew: bool
    is_read: bool

    @property
    def by_meaning(self) -> bool:
        """Whether meanings are compared."""
        return MEANING in self.queries


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
        hits = await self._hits(question, filters, up_to, asked)
        ranked = rank(question, hits, len(self._store.entries(up_to)))
        found = self._visible(ranked, filters, up_to)
        fitting = await self._fitting(question, found, hits, asked) if floor else found
        if not fitting:
            note = nothing_fits(one.entry for one in found)
            return self._answer([], {} if facets else None, asked, note)
        found = await self._ordered(question, fitting, filters, up_to, asked)
        matches = None
        if facets:
            matches = await self._matching(hits, filters, up_to, asked)
            matches |= {one.entry.key: one.entry for one in found}
        shown = await self._quoted(found[: filters.limit], asked)
        results = [self._result(question, one, up_to) for one in shown]
        results = await self._with_documents(results, up_to) if documents else results
        return self._answer(results, matches, asked, "")

    def _answer(
        self,
        results: list[SearchResult],
        matches: dict[str, DocumentEntry] | None,
        asked: _Asked,
        note: str,
    ) -> SearchResults:
        """The answer; what matches is counted, unless it is None."""
        anew = _ANEW_NOTE if asked.anew else None
        without_model = _KEYWORD_NOTE if self._host.embedder is None else None
        unread = None if asked.is_read else _UNREAD_NOTE
        notes = [note, self.unfinished(), anew, without_model, unread]
        return SearchResults(
            results=results,
            mode="hybrid" if asked.by_meaning else "keyword",
            facets=None if matches is None else counted(matches.values(), NARROWING),
            matching=None if matches is None else len(matches),
            note=" ".join(filter(None, notes)) or None,
        )

    async def _asked(
        self, question: str, filters: SearchFilters, up_to: Tier, meaning: Vector | bool
    ) -> _Asked:
        entries = self._store.entries(Tier.MEMBERS)
        is_read = (model := self._host.embedder) is None or reads(model.model, question)
        says_something = any(each.isalnum() for each in question)  # signs alone mean nothing
        embedder = model if is_read and says_something and meaning is not False else None
        where = self._where(filters, up_to)
        former = await self._index.former(len(entries))
        languages = await self._index.languages(self._store.version)
        other_names = self._names.other_names(question, up_to)
        sparse = bm25.query(question, languages, other_names)
        queries = {}
        if sparse.indices:
            queries[TERMS] = VectorQuery(TERMS, sparse, where, _MAX_TERM_HITS, _PAYLOAD)
        if former is not None:
            return _Asked(former, queries, languages, anew=True, is_read=is_read)
        if sparse.indices:
            queries[WHOLE] = VectorQuery(WHOLE, sparse, where, _MAX_TERM_HITS)
        if embedder is not None:
            made = await embedder.query(question) if isinstance(meaning, bool) else meaning
            queries[MEANING] = VectorQuery(MEANING, made, where, _MAX_NEAR)
        return _Asked(self._index.collection, queries, languages, anew=False, is_read=is_read)

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

    async def _hits(
        self, question: str, filters: SearchFilters, up_to: Tier, asked: _Asked
    ) -> Hits:
        names = (self._names.find(question, up_to), self._names.tagged(question, up_to))
        named, tagged = (
            frozenset(entry.key for entry in found if filters.admits(entry)) for found in names
        )
        answers = await asked.collection.search(list(asked.queries.values()))
        found = {
            name: answer if query.payload else placed(answer)
            for (name, query), answer in zip(asked.queries.items(), answers, strict=True)
        }
        hits = Hits([], [], found.get(TERMS, []), found.get(WHOLE, []), named, tagged)
        if MEANING not in found:
            return hits
        first = rank(question, hits.measured(found[MEANING]), len(self._store.entries(up_to)))
        likely = {one.key for one in first[:_MAX_LIKELY]}
        return hits.measured(placed(await self._measured(asked, likely)))

    async def _measured(
        self, asked: _Asked, keys: Set[str], payload: tuple[str, ...] = ()
    ) -> Sequence[Hit]:
        """How near the heads and passages of candidates are, and not the nearest alone.

        What one signal finds is weighed by all; the points of some documents are soon compared.

        Args:
            asked: the question.
            keys: the candidates.
            payload: what is wanted of each of their points beside its place.
        """
        near = asked.queries.get(MEANING)
        if near is None:
            return []
        own = Condition("key", any_of=tuple(sorted(keys)))
        every = replace(near, where=(own,), limit=_MAX_MEASURED, payload=payload)
        (hits,) = await asked.collection.search([every])
        return hits

    async def _fitting(
        self, question: str, found: list[Found], hits: Hits, asked: _Asked
    ) -> list[Found]:
        """What answers, of what was found; texts are read where scores leave it open."""
        best = max((_score(one) for one in found), default=0.0)
        if best < FLOOR:
            keys = {one.entry.key for one in found}
            hits = replace(hits, passages=list(await self._measured(asked, keys, _PAYLOAD)))
        entries, languages = [one.entry for one in found], asked.languages
        how = {"by_meaning": asked.by_meaning, "is_read": asked.is_read}
        fit = frozenset(fitting(question, best, entries, hits, languages, **how))
        return [one for one in found if one.entry.key in fit]

    async def _matching(
        self, hits: Hits, filters: SearchFilters, up_to: Tier, asked: _Asked
    ) -> dict[str, DocumentEntry]:
        """All documents that match, as far as the catalogue shows them to this tier."""
        documents = len(self._store.entries(up_to))
        keys = await matching(asked.collection, asked.queries, hits.named, documents)
        entries = (self._store.entry(key, up_to) for key in keys)
        return {one.key: one for one in entries if one and self._held(one, filters, up_to)}

    def _visible(
        self, ranked: Sequence[Candidate], filters: SearchFilters, up_to: Tier
    ) -> list[Found]:
        """The best candidates that the catalogue still shows to this tier, and that held then."""
        found = []
        for candidate in ranked:
            entry = self._store.entry(candidate.key, up_to)
            if entry is not None and self._held(entry, filters, up_to):
                found.append(Found(candidate, entry))
            if len(found) == MAX_RESULTS:
                break
        return found

    def _held(self, entry: DocumentEntry, filters: SearchFilters, up_to: Tier) -> bool:
        moment = filters.as_of
        return moment is None or self._standings.held_at(entry, moment, up_to)

    async def _ordered(
        self,
        question: str,
        found: list[Found],
        filters: SearchFilters,
        up_to: Tier,
        asked: _Asked,
    ) -> list[Found]:
        """What was found, in the order that was asked for; by relevance, what holds first."""
        by_standing = filters.sort == "relevance" and filters.as_of is None
        places = {one.entry.key: self._standings.in_place_of(one.entry, up_to) for one in found}
        if by_standing:
            found = with_successors(found, places, filters.admits)
        found = await self._judged(question, found, asked)
        if filters.sort == "date":
            return sorted(found, key=lambda one: one.entry.written, reverse=True)
        if not by_standing:
            return found
        succeeding = {one.entry.key: self._standings.succeeding(one.entry, up_to) for one in found}
        weights = {one.entry.key: self._standings.weight(one.entry, up_to) for one in found}
        return holding_first(found, succeeding, weights)

    async def _quoted(self, found: Sequence[Found], asked: _Asked) -> list[Found]:
        """What was found, with the passages that are shown of it."""
        missing = [one.entry.key for one in found if not one.quotes]
        picked = await quotes(asked.collection, asked.queries, missing)
        return [replace(one, quotes=one.quotes or picked.get(one.entry.key, ())) for one in found]

    async def _judged(self, question: str, found: list[Found], asked: _Asked) -> list[Found]:
        """The candidates as the reranker orders them, or as they are without one."""
        if (reranker := self._host.reranker) is None:
            return found
        found = await self._quoted(found, asked)
        passages = [
            f"{one_line(one.entry.title)}\n"
            + (one.quotes[0].text if one.quotes else one.entry.description)
            for one in found
        ]
        judged = await rerank.scores(reranker, self._host.cache, question, passages)
        rated = [replace(one, rating=rating) for one, rating in zip(found, judged, strict=True)]
        return sorted(rated, key=lambda one: -(one.rating or 0.0))

    def _result(self, question: str, found: Found, up_to: Tier) -> SearchResult:
        entry = found.entry
        best = found.quotes[0].citing(question) if found.quotes else None
        return SearchResult(
            title=one_line(entry.title),
            content_type=entry.content_type,
            id=entry.id,
            description=entry.description or None,
            passage=best.text if best else None,
            section=list(best.section) or None if best else None,
            passages=[
                QuotedPassage(
                    text=excerpt(one.text, question),
                    section=list(one.section) or None,
                    permalink=self._permalinks.of(entry, one.place),
                )
                for one in (each.citing(question) for each in further(found.quotes))
            ]
            or None,
            group=entry.group or None,
            status=entry.status or None,
            tags=list(entry.tags) or None,
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
