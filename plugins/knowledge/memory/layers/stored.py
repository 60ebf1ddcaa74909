"""A layer in the database, and in the vector store where its entries have vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from plugins.knowledge.memory.asking import Answers, Question
from plugins.knowledge.memory.entries import OWN, Layer
from plugins.knowledge.memory.labels import agent
from plugins.knowledge.memory.ranking import Mode, Scored, ordered, score
from plugins.knowledge.memory.similarity import score as similarity
from plugins.knowledge.memory.store.reading import Reading
from plugins.knowledge.memory.vectors import MemoryVectors

if TYPE_CHECKING:
    from plugins.knowledge.memory.vectors import Vector

OF_AGENTS = frozenset({Layer.SESSION, Layer.EPISODIC})
"""Layers in which an agent finds what it wrote itself, where it gives its name."""
WITH_VECTORS = frozenset(Layer) - OWN
"""Layers that are found by meaning too; the others are small, short and fast."""
_BEHIND = "What other processes of the portal wrote of late may not be found by its meaning yet."


class StoredLayer:
    """One layer.

    Args:
        layer: which one.
        reading: the database.
        vectors: the vector store, or None where the portal has no model.
    """

    def __init__(self, layer: Layer, reading: Reading, vectors: MemoryVectors | None) -> None:
        self.layer = layer
        self._reading = reading
        self._vectors = vectors if layer in WITH_VECTORS else None

    async def search(self, question: Question) -> Answers:
        """The best answers (see :class:`AskedLayer`).

        Without vectors, a question by meaning is answered by its words. Where the model or the
        vector store fails, a hybrid question is, and says so.
        """
        question = self._of_its_own(question)
        if self._vectors is not None and question.unembedded is not None:
            return await self._by_words_alone(question, question.unembedded)
        if self._vectors is None or question.vector is None:
            return Answers(await self._reading.with_words(self.layer, question))
        near_by = self._near(self._vectors, question, question.vector)
        note = _BEHIND if self._vectors.behind else ""
        if question.mode is Mode.SEMANTIC:
            return Answers(self._ranked(question, {}, await near_by), note)
        words, near = await asyncio.gather(
            self._reading.with_words(self.layer, question),
            near_by,
            return_exceptions=True,
        )
        if isinstance(words, BaseException):
            raise words
        if isinstance(near, Exception):
            return Answers(words, "The vector store does not answer: found by words alone.", near)
        if isinstance(near, BaseException):
            raise near
        return Answers(self._ranked(question, {one.id: one for one in words}, near), note)

    async def _by_words_alone(self, question: Question, why: Exception) -> Answers:
        if question.mode is Mode.SEMANTIC:
            return Answers(note="The embedding model does not answer.", error=why)
        words = await self._reading.with_words(self.layer, question)
        return Answers(words, "The embedding model does not answer: found by words alone.", why)

    async def _near(
        self, vectors: MemoryVectors, question: Question, vector: Vector
    ) -> dict[str, Scored]:
        """What is near in meaning, as far as the database agrees that it may be seen."""
        near = await vectors.nearest(self.layer, question, vector)
        admitted = await self._reading.admitted({one.id for one in near}, self.layer, question)
        return {
            one.id: Scored(one.id, 0.0, known.changed, one.cosine)
            for one in near
            if (known := admitted.get(one.id)) is not None and known.version == one.version
        }

    def _ranked(
        self, question: Question, words: Mapping[str, Scored], near: Mapping[str, Scored]
    ) -> list[Scored]:
        """Each candidate with its score; one that is far in meaning is as far as the furthest."""
        least = min((one.cosine or 0.0 for one in near.values()), default=0.0)
        ranked = []
        for id in words.keys() | near.keys():
            one = near.get(id) or words[id]
            alike = similarity(least if one.cosine is None else one.cosine)
            said = words[id].score if id in words else 0.0
            ranked.append(replace(one, score=score(question.mode, alike, said)))
        return ordered(ranked)[: question.limit]

    def _of_its_own(self, question: Question) -> Question:
        narrowing = question.narrowing
        if question.agent is not None and self.layer in OF_AGENTS:
            by_agent = frozenset({agent(question.agent)})
            narrowing = replace(narrowing, labels=(*narrowing.labels, by_agent))
        if self.layer in OWN:
            # An owner that is nobody finds nothing.
            own = narrowing.owner in (None, question.person) and question.person
            narrowing = replace(narrowing, owner=own or "")
        return replace(question, narrowing=narrowing)
