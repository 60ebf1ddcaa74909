"""A layer in the database, and in the vector store where its entries have vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from plugins.knowledge.memory.algorithms.relevance import (
    fit,
    score,
    sort_by_score,
)
from plugins.knowledge.memory.algorithms.similarity import score as similarity
from plugins.knowledge.memory.algorithms.turns import best_numbers, with_neighbours
from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS, OWNER_ONLY_LAYERS, Layer
from plugins.knowledge.memory.model.labels import agent
from plugins.knowledge.memory.model.query_context import LayerAnswers, Question, Scored
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.store.reads import Reads, WordAnswers
from plugins.knowledge.memory.store.turn_texts import short_turns, spoken
from plugins.knowledge.memory.store.vectors import MemoryVectors, NearVector

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.vectors import Vector

AGENT_LAYERS = frozenset({Layer.SESSION, Layer.EPISODIC})
"""Layers in which an agent finds what it wrote itself, where it gives its name."""
SAYS_ALL = 0.6
"""How similar to a question an entry is at least that has all of its words: a question of a word or
two is near to nothing."""
CANDIDATES = 40
"""Entries that words and meaning find each, before the two are weighed together."""
_BEHIND_NOTE = (
    "What other processes of the portal wrote of late, or what was kept for another model or gone "
    "from the vector store, may not be found by its meaning yet."
)


class StoredLayer:
    """One layer.

    Args:
        layer: which one.
        reads: the database.
        vectors: the vector store, or None where the portal has no model.
    """

    def __init__(self, layer: Layer, reads: Reads, vectors: MemoryVectors | None) -> None:
        self.layer = layer
        self._reads = reads
        self._vectors = vectors if layer in LAYERS_WITH_VECTORS else None

    async def search(self, question: Question) -> LayerAnswers:
        """The best answers (see :class:`SearchLayer`).

        Without vectors, a question by meaning is answered by its words. Where the model or the
        vector store fails, a hybrid question is, and says so.
        """
        question = self._of_its_own(question)
        if self._vectors is not None and question.embedding_error is not None:
            return await self._by_words_alone(question, question.embedding_error)
        vector = question.meaning
        if self._vectors is None or vector is None:
            answers = await self._reads.search_words(self.layer, question)
            return LayerAnswers(answers.found)
        limit, question = question.limit, replace(question, limit=max(question.limit, CANDIDATES))
        near_by = self._near(self._vectors, question, vector)
        note = _BEHIND_NOTE if self._vectors.behind else ""
        if question.mode is Mode.SEMANTIC:
            ranked = await self._ranked(question, {}, await near_by)
            return LayerAnswers(ranked[:limit], note)
        words, near = await asyncio.gather(
            self._reads.search_words(self.layer, question),
            near_by,
            return_exceptions=True,
        )
        if isinstance(words, BaseException):
            raise words
        if isinstance(near, Exception):
            return LayerAnswers(
                words.found[:limit], "The vector store does not answer: found by words alone.", near
            )
        if isinstance(near, BaseException):
            raise near
        near |= await self._meant(self._vectors, words.found, near, question, vector)
        near |= await self._unspoken(self._vectors, near, question)
        told = await self._told(self._vectors, question)
        said = await self._said(words, near | told, question)
        ranked = await self._ranked(question, said, near, told)
        return LayerAnswers(ranked[:limit], note)

    async def _said(
        self, words: WordAnswers, near: Mapping[str, Scored], question: Question
    ) -> dict[str, Scored]:
        """The scores by words: of what words found, and of what only the vectors found."""
        said = {one.id: one for one in words.found}
        if len(said) < question.limit:
            return said
        left = [one.number for id, one in near.items() if id not in said]
        more = await self._reads.words_of(left, words.rarities, self.layer, question)
        return said | {one.id: one for one in more}

    async def _meant(
        self,
        vectors: MemoryVectors,
        words: Sequence[Scored],
        near: Mapping[str, Scored],
        question: Question,
        vector: Vector,
    ) -> dict[str, Scored]:
        """The similarity of what words found and the vector search did not."""
        left = {one.id: one for one in words if one.id not in near}
        if len(near) < question.limit or not left:
            return {}
        with suppress(Exception):  # they are as far as the furthest then
            return _current(await vectors.nearest({self.layer}, question, vector, left), left)
        return {}

    async def _unspoken(
        self, vectors: MemoryVectors, near: Mapping[str, Scored], question: Question
    ) -> dict[str, Scored]:
        """The similarity to a question, with all names in it, of what nobody in particular says.

        Who speaks is named before what they say; of whom an entry tells is named in its words.
        """
        if question.focus is None or question.vector is None:
            return {}
        with suppress(Exception):  # they are as near then as they are to less of the names
            said = await spoken(self._reads.database, {one.number for one in near.values()})
            left = {id: one for id, one in near.items() if one.number not in said}
            if left:
                full = await vectors.nearest({self.layer}, question, question.vector, left)
                return _current(full, left)
        return {}

    async def _told(self, vectors: MemoryVectors, question: Question) -> dict[str, Scored]:
        """Entries that people named in the question said."""
        if question.focus is None:
            return {}
        labels = (*question.entry_filter.labels, question.voices)
        theirs = replace(question, entry_filter=replace(question.entry_filter, labels=labels))
        with suppress(Exception):  # they are found as everybody else is then
            return await self._near(vectors, theirs, question.focus)
        return {}

    async def _by_words_alone(self, question: Question, why: Exception) -> LayerAnswers:
        if question.mode is Mode.SEMANTIC:
            return LayerAnswers(note="The embedding model does not answer.", error=why)
        words = await self._reads.search_words(self.layer, question)
        return LayerAnswers(
            words.found, "The embedding model does not answer: found by words alone.", why
        )

    async def _near(
        self, vectors: MemoryVectors, question: Question, vector: Vector
    ) -> dict[str, Scored]:
        """What is near in meaning, as far as the database agrees that it may be seen."""
        near = await vectors.nearest({self.layer}, question, vector)
        ids = {one.id for one in near}
        return _current(near, await self._reads.admitted(ids, self.layer, question))

    async def _ranked(
        self,
        question: Question,
        words: Mapping[str, Scored],
        near: Mapping[str, Scored],
        told: Mapping[str, Scored] = MappingProxyType({}),
    ) -> list[Scored]:
        """Each candidate with its score; one that is far in meaning is as far as the furthest."""
        ids = words.keys() | near.keys() | told.keys()
        worth = await self._worth(ids, question)
        least = min((_alike(one, worth) for one in near.values()), default=0.0)
        ranked = []
        for id in ids:
            said = words[id].score if id in words else 0.0
            all_said = id in words and words[id].says_all
            one = near.get(id) or told.get(id) or words[id]
            alike = _alike(one, worth, least)
            named = id in told
            ranked.append(
                _weighed(one, question.mode, said, alike, is_named=named, says_all=all_said)
            )
        ranked = sort_by_score(ranked)
        if numbers := best_numbers(ranked):
            beside = await self._reads.neighbours(numbers, self.layer, question)
            among = {one.number for one in (*ranked, *beside)}
            short = await short_turns(self._reads.database, among)
            ranked = sort_by_score(with_neighbours(ranked, beside, least, short))
        return ranked

    async def _worth(self, ids: Collection[str], question: Question) -> Mapping[str, float]:
        """How much of their similarity entries are worth; those that are not named, all of it."""
        if (foreign := question.foreign) is None:
            return {}
        records = await self._reads.read(ids, question.keys)
        return {id: foreign.weight(one.text) for id, one in records.items()}

    def _of_its_own(self, question: Question) -> Question:
        entry_filter = question.entry_filter
        if question.agent is not None and self.layer in AGENT_LAYERS:
            by_agent = frozenset({agent(question.agent)})
            entry_filter = replace(entry_filter, labels=(*entry_filter.labels, by_agent))
        if self.layer in OWNER_ONLY_LAYERS:
            # An owner that is nobody finds nothing.
            own = entry_filter.owner in (None, question.person) and question.person
            entry_filter = replace(entry_filter, owner=own or "")
        return replace(question, entry_filter=entry_filter)


def _current(near: Sequence[NearVector], admitted: Mapping[str, Scored]) -> dict[str, Scored]:
    """What is near, of the entries that may be seen; a vector of another version says nothing."""
    return {
        one.id: known.with_score(known.score, cosine=one.cosine, passage=one.passage)
        for one in near
        if (known := admitted.get(one.id)) is not None and known.version == one.version
    }


def _alike(one: Scored, worth: Mapping[str, float], least: float = 0.0) -> float:
    """How similar an entry is, as far as that counts; where it is not known, as the furthest."""
    return least if one.cosine is None else similarity(one.cosine) * worth.get(one.id, 1.0)


def _weighed(
    one: Scored,
    mode: Mode,
    said: float,
    alike: float,
    *,
    is_named: bool = False,
    says_all: bool = False,
) -> Scored:
    """A candidate with its score.

    Args:
        one: the candidate.
        mode: what counts.
        said: what its words are worth.
        alike: how similar it is.
        is_named: whether the question names who says it.
        says_all: whether it has every word of the question.
    """
    if says_all and mode is Mode.HYBRID:
        alike = max(alike, SAYS_ALL)
    fits = alike if mode is Mode.SEMANTIC else fit(alike, said)
    return one.with_score(score(mode, alike, said, is_named=is_named), fit=fits)
