"""Searches entities by meaning and by words."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.contract import Embedder, ToolFailed
from gateway.toolkit.questions import checked_question
from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.search.embedder import EMBEDDED
from plugins.codegraph.search.rank import Ranked, by_words, content_words, rank
from plugins.codegraph.search.texts import texts_of
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.stored_graph import Graph

_SIMILAR = 80
_BY_WORDS = 60
"""Candidates per signal; 150 and 120 gave the same nDCG@10 on the judged questions."""
_OF_A_KIND = 150
"""Candidates by similarity when results are filtered by kind or containment."""
Mode = Literal["hybrid", "keyword"]


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    Attributes:
        ranked: the entities, best first.
        mode: by meaning and words, or by words alone.
        note: what to know about it, or "".
    """

    ranked: Sequence[Ranked]
    mode: Mode
    note: str = ""


class Search:
    """Searches code.

    Args:
        vectors: the vector store, or None if the portal has no model.
    """

    def __init__(self, vectors: CodeVectors | None) -> None:
        self._vectors = vectors

    async def mode(self, view: RepositoryView) -> Mode:
        """How a repository is searched at the moment."""
        return "keyword" if self._vectors is None else "hybrid"

    async def embedded(self, view: RepositoryView) -> int | None:
        """How many vectors a repository has so far; None where the portal has no model."""
        if self._vectors is None:
            return None
        return await self._vectors.count(view.org, view.id)

    async def words(
        self, graph: Graph, question: str, limit: int, kinds: Collection[EntityKind] = ()
    ) -> list[Ranked]:
        """Entities that match the words of a question, best first."""
        found = await graph.words(content_words(checked_question(question)), limit, kinds)
        return by_words(question, found)

    async def meaning(
        self, graph: Graph, question: str, limit: int, kinds: Collection[EntityKind] = ()
    ) -> Found:
        """Entities that answer a question, best first.

        Args:
            graph: where to search.
            question: in any words.
            limit: the most results.
            kinds: only these; all embedded kinds if empty.

        Raises:
            ToolFailed: the question is empty or too long.
        """
        question = checked_question(question)
        asked = tuple(kinds) or EMBEDDED
        # Filtering kinds in the store costs more than fetching a few more and filtering here.
        with_words = graph.words(content_words(question), _BY_WORDS, tuple(kinds))
        if self._vectors is None:
            found = await with_words
            note = "This portal has no embedding model: results are found by their words alone."
            return Found(_ranked(question, found, {}, {}, limit, asked), "keyword", note)
        found, similar = await asyncio.gather(
            with_words,
            self._similar(graph, self._vectors, question, _OF_A_KIND if kinds else _SIMILAR),
        )
        entities = await graph.entities(similar.keys() - {each.key for each, _ in found})
        ranked = _ranked(question, found, entities, similar, limit, asked)
        return Found(ranked, "hybrid", _pending(graph.repo))

    async def similar(self, graph: Graph, entity: Entity, source: str, limit: int) -> Found:
        """The entities most similar to one, without itself, its containers and its parts.

        Raises:
            ToolFailed: the portal has no embedding model.
        """
        if self._vectors is None:
            raise ToolFailed(
                "no_model",
                "This portal has no embedding model, so nothing is compared by meaning. Use "
                "search_code with words of the code.",
            )
        (vector,) = await self._vectors.embed([texts_of(entity, source)])
        near = await self._vectors.nearest(graph.repo, vector, _OF_A_KIND)
        found = await graph.entities(near)
        others = [Ranked(each, near[key]) for key, each in found.items() if _apart(each, entity)]
        others.sort(key=lambda one: (-one.score, one.entity.path, one.entity.line))
        return Found(others[:limit], "hybrid", _pending(graph.repo))

    async def _similar(
        self, graph: Graph, vectors: CodeVectors, question: str, limit: int
    ) -> dict[int, float]:
        embedder: Embedder = vectors.embedder
        return await vectors.nearest(graph.repo, await embedder.query(question), limit)


def _pending(view: RepositoryView) -> str:
    if view.embedded:
        return ""
    return "Not everything is embedded yet: what is new may be found by its words alone."


def _ranked(
    question: str,
    found: Sequence[tuple[Entity, float]],
    more: dict[int, Entity],
    similar: dict[int, float],
    limit: int,
    kinds: Collection[EntityKind],
) -> list[Ranked]:
    entities = {each.key: each for each, _ in found} | more
    wanted = [each for each in entities.values() if each.kind in kinds]
    words = {each.key: score for each, score in found}
    return rank(question, wanted, similar, words)[:limit]


def _apart(one: Entity, other: Entity) -> bool:
    """Whether neither entity is, or contains, the other."""
    if one.path != other.path:
        return True
    around = one.line <= other.line and other.end_line <= one.end_line
    inside = other.line <= one.line and one.end_line <= other.end_line
    return one.key != other.key and not around and not inside
