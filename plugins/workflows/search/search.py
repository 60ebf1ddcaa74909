"""Search over the playbook: by meaning where the portal has a model, and by words.

The index says which items fit best, whoever they belong to; the store's queries, which carry the
condition of who sees what, say which of those are shown. So a search reveals no item that its
caller could not see otherwise, and its scores depend on no other item that they cannot see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from gateway.contract import Database, Embedder
from plugins.workflows.model import Summary, TargetType, Viewer
from plugins.workflows.search.embedding import EMBED_TIMEOUT_S
from plugins.workflows.search.index_sync import IndexSync
from plugins.workflows.search.standing import reordered
from plugins.workflows.search.standing_cache import StandingCache
from plugins.workflows.store.item_texts import clean
from plugins.workflows.store.queries import Filters
from plugins.workflows.store.ratings import Standing

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from plugins.workflows.playbook import Playbook
    from plugins.workflows.search.index import Index, Query

Mode: TypeAlias = Literal["semantic", "text"]

MAX_QUERY_CHARS = 2_000
"""Characters of a question that are read; the rest is left out, and the answer says so."""

_EXTRA_CANDIDATES = 5
"""Candidates beside the limit that are asked for first; mostly all of them are shown."""
_MAX_CANDIDATES = 200
"""Candidates that are asked for before the store is asked for all that the caller sees."""
_MAX_IDS_PER_QUERY = 1_000
"""Ids in one query, at most."""
MIN_SCORE = 0.12
"""The score below which an item that is compared by meaning does not fit.

Of 24 tasks put in other words than the starter workflows', 22 score higher with theirs; of 20 that
have nothing to do with any, 15 stay below. What falls below is named as far from the task.
"""
_MAX_NEAREST = 3
_CUT = f"Only the first {MAX_QUERY_CHARS} characters were read."
_BY_WORDS = "This portal has no embedding model: these were found by their words alone."
_MODEL_FAILED = "The embedding model did not answer: these were found by their words alone."
_NO_WORDS = "There is no word in it to look for: say in words what the task is about."
_NOT_EMBEDDED = "Some of these have no vector yet and were found by their words alone."
_MORE = "There are more: give a task, or filters, to find what fits."


@dataclass(frozen=True, slots=True)
class Hit:
    """An item, and how well it fits, 0 to 1; None where nothing was asked for."""

    summary: Summary
    score: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, best first.

    Attributes:
        mode: None where nothing was asked for: then they are in the order of their names.
        standings: how workflows stand, by their ids; no more than a minute old.
        note: what to know about the answer, or None.
    """

    hits: tuple[Hit, ...]
    mode: Mode | None
    note: str | None
    standings: Mapping[str, Standing] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Request:
    """One search, as its steps hand it on."""

    type: TargetType
    viewer: Viewer
    filters: Filters
    limit: int


class Search:
    """Finds workflows and skill cards for a viewer.

    Args:
        database: the plugin's database.
        playbook: says who sees what.
        embedder: the portal's model, or None.
        log: where a model that fails is told of.
    """

    def __init__(
        self,
        database: Database,
        playbook: Playbook,
        embedder: Embedder | None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        self._database = database
        self._playbook = playbook
        self._embedder = embedder
        self._log = log
        self._standings = StandingCache(database)
        self._kinds = {
            type: IndexSync(database, type, embedder)
            for type in (TargetType.WORKFLOW, TargetType.SKILL)
        }

    async def workflows(
        self, query: str | None, viewer: Viewer, filters: Filters, limit: int
    ) -> Found:
        """The workflows that fit a task.

        Without a task, or with a blank one, they are listed by name. Of a task longer than
        :data:`MAX_QUERY_CHARS` characters only the beginning is read. A task made of stop words
        is compared by meaning; without a model it finds only items with that very name.

        Args:
            query: the task, or a workflow's name, or None.
            viewer: who looks.
            filters: what the workflows must be.
            limit: how many at most.
        """
        found = await self._found(query, _Request(TargetType.WORKFLOW, viewer, filters, limit))
        return replace(found, standings=await self._standings.current())

    async def skills(
        self, query: str | None, viewer: Viewer, filters: Filters, limit: int
    ) -> Found:
        """The skill cards that fit a task; as :meth:`workflows`."""
        return await self._found(query, _Request(TargetType.SKILL, viewer, filters, limit))

    async def backfill(self) -> int:
        """Embed what has no vector by the model in use, once through; for the background.

        Returns:
            How many items were embedded; 0 without a model.

        Raises:
            Exception: the model failed.
        """
        from plugins.workflows.search.backfill import backfill

        if self._embedder is None:
            return 0
        return await backfill(self._database, self._embedder)

    async def _found(self, query: str | None, request: _Request) -> Found:
        text = clean(query[: 4 * MAX_QUERY_CHARS]) if query else ""
        if not text:
            return await self._listed(request)
        question, failed = await self._question(text[:MAX_QUERY_CHARS])
        index = await self._kinds[request.type].index()
        hits = await self._ranked(index, question, request)
        far: list[Hit] = []
        if question.vector is not None:
            hits, far = _split_by_fit(hits, index)
        notes = [
            _nothing_fits(far) if far and not hits else None,
            _CUT if len(text) > MAX_QUERY_CHARS else None,
            _MODEL_FAILED if failed else None,
            _BY_WORDS if self._embedder is None else None,
            _NO_WORDS if not question.terms and question.vector is None and not hits else None,
        ]
        if question.vector is not None:
            bare = [hit for hit in hits if not index.has_vector(hit.summary.id)]
            notes.append(_NOT_EMBEDDED if bare else None)
        mode: Mode = "text" if question.vector is None else "semantic"
        return Found(tuple(hits), mode, " ".join(filter(None, notes)) or None)

    async def _question(self, text: str) -> tuple[Query, bool]:
        """The question, and whether the model failed to read it."""
        from plugins.workflows.search.index import Query

        if self._embedder is None:
            return Query.of(text, None), False
        try:
            async with asyncio.timeout(EMBED_TIMEOUT_S):
                return Query.of(text, await self._embedder.query(text)), False
        except Exception as error:
            from plugins.workflows.search.embedding import log_model_failure

            log_model_failure(self._log, "workflows_question_not_embedded", error)
            return Query.of(text, None), True

    async def _ranked(self, index: Index, question: Query, request: _Request) -> list[Hit]:
        """The best items that are shown, exactly: each is asked for before one that fits less.

        Among the best 200, ratings and use move what fits about equally.
        """
        hits: list[Hit] = []
        filters = request.filters
        if filters.scope == "all" and not filters.tags:  # else few are left, and soon found
            best = await self._weighed(index.best(question, _MAX_CANDIDATES), request)
            first = request.limit + _EXTRA_CANDIDATES
            for some in (best[:first], best[first:]):
                hits += await self._shown(some, request)
                if len(hits) >= request.limit:
                    return hits[: request.limit]
            if len(best) < _MAX_CANDIDATES:
                return hits
        seen = await self._matching(request)
        found = index.among(question, seen)
        nearest = await self._weighed(found[:_MAX_CANDIDATES], request)
        return await self._shown([*nearest, *found[_MAX_CANDIDATES:]][: request.limit], request)

    async def _weighed(
        self, found: Sequence[tuple[str, float]], request: _Request
    ) -> Sequence[tuple[str, float]]:
        """What fits best, with ratings and use counted in (``standing.py``)."""
        if request.type is not TargetType.WORKFLOW or len(found) < 2:
            return found
        return reordered(found, await self._standings.current())

    async def _shown(self, some: Sequence[tuple[str, float]], request: _Request) -> list[Hit]:
        if not some:
            return []
        summaries = await self._summaries([id for id, _ in some], request)
        return [Hit(summaries[id], score) for id, score in some if id in summaries]

    async def _listed(self, request: _Request) -> Found:
        filters = request.filters
        if filters.tags or filters.complexity is not None:
            summaries = await self._by_name(request)
        else:
            summaries = await self._playbook.page(
                request.type, request.viewer, None, request.limit + 1, scope=filters.scope
            )
        hits = tuple(Hit(each, None) for each in summaries[: request.limit])
        return Found(hits, None, _MORE if len(summaries) > request.limit else None)

    async def _by_name(self, request: _Request) -> list[Summary]:
        """All that match, in the order of :meth:`Playbook.page`."""
        seen = await self._matching(request)
        found: list[Summary] = []
        for start in range(0, len(seen), _MAX_IDS_PER_QUERY):
            found += (
                await self._summaries(seen[start : start + _MAX_IDS_PER_QUERY], request)
            ).values()
        return sorted(found, key=lambda each: (each.name, each.id))

    async def _summaries(self, ids: Sequence[str], request: _Request) -> dict[str, Summary]:
        return await self._playbook.summaries(request.type, ids, request.viewer, request.filters)

    async def _matching(self, request: _Request) -> list[str]:
        return await self._playbook.matching(request.type, request.viewer, request.filters)


def _split_by_fit(hits: Sequence[Hit], index: Index) -> tuple[list[Hit], list[Hit]]:
    """The hits that fit, and those too far from the task in meaning to be called an answer."""
    far = [
        hit
        for hit in hits
        if hit.score is not None and hit.score < MIN_SCORE and index.has_vector(hit.summary.id)
    ]
    return [hit for hit in hits if hit not in far], far


def _nothing_fits(far: Sequence[Hit]) -> str:
    nearest = ", ".join(f"{hit.summary.name} ({hit.summary.key})" for hit in far[:_MAX_NEAREST])
    return f"Nothing here fits that. Nearest, though far from it: {nearest}."
