"""A question as it is put to the index, and how near documents are to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace

from gateway.contract import Collection, Condition, Hit, Sparse, VectorQuery
from gateway.toolkit.bm25 import term_id
from plugins.knowledge.retrieval import bm25
from plugins.knowledge.retrieval.code_names import CodeName, weights
from plugins.knowledge.retrieval.floor import by_language, least_share, saying
from plugins.knowledge.retrieval.foreign_questions import ForeignQuestion
from plugins.knowledge.retrieval.points import MEANING, TERMS, WHOLE, placed
from plugins.knowledge.retrieval.relevance import Candidate, Hits, rank

MAX_POINTS = 5000
"""Points that are weighed where all that matches is counted, the nearest first: of about 500
documents."""
PAYLOAD = ("key", "text", "section", "under", "ordinal", "language")
"""What is wanted of points whose texts are looked at."""
_MAX_CODE_HITS = 60
"""Passages that are looked through for names out of code."""
_MAX_MEASURED = 600
"""Heads and passages of candidates that are compared, ..."""
_PER_CANDIDATE = 20
"""... or of each, where there are many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to the index.

    What a document scores hangs on the question, the document and the whole index, and on nothing
    that a filter changes: so what is counted is what a search that is narrowed to it finds.

    Attributes:
        question: the question.
        collection: what answers it.
        queries: what it is compared with there.
        where: what narrows it.
        languages: those of the documents.
        documents: how many documents there are.
        named: keys of documents whose name it is.
        tagged: keys of documents of which it is a tag.
        numbered: keys of documents that go by a number or a day in it.
        code: the names out of code that it has, each with the keys of documents that are called so.
        anew: whether a former collection answers.
        is_read: whether the model can read it; else no meanings are compared.
        foreign: the question, where it is in another language than the model's.
        stop_words: its words that tell nothing of what it is about.
        least: the score, 0 to 1, that the best document has to have to answer it.
        about: what a document says of itself, by its key.
    """

    question: str
    collection: Collection
    queries: Mapping[str, VectorQuery]
    where: tuple[Condition, ...]
    languages: tuple[str, ...]
    documents: int
    named: frozenset[str]
    tagged: frozenset[str]
    numbered: frozenset[str]
    code: Mapping[CodeName, Set[str]]
    anew: bool
    is_read: bool
    foreign: ForeignQuestion | None
    stop_words: frozenset[str]
    least: float
    about: Callable[[str], str]

    @property
    def by_meaning(self) -> bool:
        """Whether meanings are compared."""
        return MEANING in self.queries

    async def nearest(self) -> Hits:
        """What the store finds first: the nearest by meaning, and by words."""
        answers = await self.collection.search(list(self.queries.values()))
        found = {
            name: answer if query.payload else placed(answer)
            for (name, query), answer in zip(self.queries.items(), answers, strict=True)
        }
        return replace(self._hits(found), coded=await self._coded())

    async def _coded(self) -> dict[str, float]:
        """What documents gain by its names out of code, of what the filters admit."""
        queries = self.code_queries(self.where, _MAX_CODE_HITS, PAYLOAD)
        found = await self.collection.search(queries) if queries else ()
        having = [hit for answer in found for hit in answer]
        return weights([*self.code], having, [*self.code.values()])

    def code_queries(
        self, where: tuple[Condition, ...], limit: int, payload: tuple[str, ...]
    ) -> list[VectorQuery]:
        """What finds passages that may have its names out of code, each name by itself.

        Args:
            where: what narrows them.
            limit: how many are wanted, at most.
            payload: what is wanted of each.
        """
        asked = (bm25.query(one.words, self.languages) for one in self.code)
        return [VectorQuery(TERMS, one, where, limit, payload) for one in asked if one.indices]

    def weighed(self, hits: Hits) -> list[Candidate]:
        """The documents of hits, best first."""
        return rank(self.question, hits, self.documents)

    async def measured(self, hits: Hits, keys: Set[str]) -> list[Candidate]:
        """Candidates weighed by all that can be known of them, best first.

        What one signal finds is weighed by all; the points of some documents are soon compared.

        Args:
            hits: what was found first; its texts show who holds the question word for word.
            keys: the candidates.
        """
        known = {TERMS: _keys(hits.terms), WHOLE: _keys(hits.whole)}
        asked = {name: keys - known.get(name, set()) for name in self.queries}
        every = await self._wide(max(_MAX_MEASURED, _PER_CANDIDATE * len(keys)), asked)
        every = replace(
            every,
            terms=[*hits.terms, *every.terms],
            whole=[*hits.whole, *every.whole],
            coded=hits.coded,
        )
        return [one for one in self.weighed(every) if one.key in keys]

    async def everything(self) -> list[Candidate]:
        """All that the filters admit, as far as :data:`MAX_POINTS` go, without quotations.

        What holds the question word for word says every word of it: :meth:`saying` has it.
        """
        hits = await self._wide(MAX_POINTS)
        return self.weighed(replace(hits, is_complete=True, coded=await self._coded()))

    async def saying(self, keys: Set[str] | None = None) -> set[str]:
        """The keys of documents that say enough of the question's words to answer it.

        Args:
            keys: the only documents that are looked at.
        """
        asked = by_language(self.question, self.languages, self.stop_words)
        words = sorted({word for one in asked.values() for word in one})
        if not words:
            return set()
        where = self.where if keys is None else only(keys)
        queries = [
            VectorQuery(TERMS, Sparse((term_id(word),), (1.0,)), where, MAX_POINTS)
            for word in words
        ]
        answers = map(placed, await self.collection.search(queries))
        holding = {
            word: {(hit.payload["key"], hit.payload["ordinal"]) for hit in answer}
            for word, answer in zip(words, answers, strict=True)
        }
        by_meaning = self.by_meaning and self.foreign is None
        return saying(asked, holding, least_share(by_meaning=by_meaning, is_read=self.is_read))

    async def _wide(self, limit: int, keys: Mapping[str, Set[str]] | None = None) -> Hits:
        """Many hits without their texts: of what the filters admit, or of certain documents.

        Args:
            limit: how many of each signal, at most.
            keys: the documents that each signal is asked of; of none where it is known already.
        """
        queries = {
            name: replace(
                one,
                where=one.where if keys is None else only(keys[name]),
                limit=limit,
                payload=PAYLOAD if self.foreign and name == MEANING else (),
            )
            for name, one in self.queries.items()
            if keys is None or keys[name]
        }
        found = await self.collection.search(list(queries.values())) if queries else ()
        answers = dict(zip(queries, found, strict=True))
        near = answers.pop(MEANING, ())
        by_name = {name: placed(answer) for name, answer in answers.items()}
        if self.by_meaning:
            foreign = self.foreign
            by_name[MEANING] = foreign.weighed(near, self.about) if foreign else placed(near)
        hits = self._hits(by_name)
        return replace(hits, is_complete=len(near) < limit)

    def _hits(self, found: Mapping[str, list[Hit]]) -> Hits:
        """What the store found, by what was compared."""
        words, whole = found.get(TERMS, []), found.get(WHOLE, [])
        hits = Hits([], [], words, whole, self.named, self.tagged, self.numbered)
        return hits.measured(found.get(MEANING, []))


def only(keys: Set[str]) -> tuple[Condition, ...]:
    """Conditions of the points of these documents alone."""
    return (Condition("key", any_of=tuple(sorted(keys))),)


def _keys(hits: Iterable[Hit]) -> set[str]:
    """The documents of hits."""
    return {one.payload["key"] for one in hits}
