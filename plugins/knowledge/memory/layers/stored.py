"""A layer in the database, and in the vector store where its entries have vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from plugins.knowledge.memory.algorithms.relevance import score, sort_by_score
from plugins.knowledge.memory.algorithms.similarity import score as similarity
from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS, OWNER_ONLY_LAYERS, Layer
from plugins.knowledge.memory.model.labels import agent
from plugins.knowledge.memory.model.query_context import LayerAnswers, Question, Scored
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.vectors import MemoryVectors

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.vectors import Vector

AGENT_LAYERS = frozenset({Layer.SESSION, Layer.EPISODIC})
"""Layers in which an agent finds what it wrote itself, where it gives its name."""
_BEHIND_NOTE = (
    "What other processes of the portal wrote of late may not be found by its meaning yet."
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
        if self._vectors is None or question.vector is None:
            return LayerAnswers(await self._reads.search_words(self.layer, question))
        near_by = self._near(self._vectors, question, question.vector)
        note = _BEHIND_NOTE if self._vectors.behind else ""
        if question.mode is Mode.SEMANTIC:
            return LayerAnswers(self._ranked(question, {}, await near_by), note)
        words, near = await asyncio.gather(
            self._reads.search_words(self.layer, question),
            near_by,
            return_exceptions=True,
        )
        if isinstance(words, BaseException):
            raise words
        if isinstance(near, Exception):
            return LayerAnswers(
                words, "The vector store does not answer: found by words alone.", near
            )
        if isinstance(near, BaseException):
            raise near
        return LayerAnswers(self._ranked(question, {one.id: one for one in words}, near), note)

    async def _by_words_alone(self, question: Question, why: Exception) -> LayerAnswers:
        if question.mode is Mode.SEMANTIC:
            return LayerAnswers(note="The embedding model does not answer.", error=why)
        words = await self._reads.search_words(self.layer, question)
        return LayerAnswers(
            words, "The embedding model does not answer: found by words alone.", why
        )

    async def _near(
        self, vectors: MemoryVectors, question: Question, vector: Vector
    ) -> dict[str, Scored]:
        """What is near in meaning, as far as the database agrees that it may be seen."""
        near = await vectors.nearest(self.layer, question, vector)
        admitted = await self._reads.admitted({one.id for one in near}, self.layer, question)
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
        return sort_by_score(ranked)[: question.limit]

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
