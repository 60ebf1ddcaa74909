"""Answers a query: searches all layers at once, ranks the results, reads those on the page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from gateway.contract import Caller, Embedder
from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.names import names_in, without_names
from plugins.knowledge.memory.algorithms.relevance import merge_results
from plugins.knowledge.memory.algorithms.similarity import distance
from plugins.knowledge.memory.algorithms.turns import without_repeats
from plugins.knowledge.memory.model import labels as by
from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS, KnowledgeEntry, Layer
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.query_context import (
    EntrySource,
    Question,
    Scored,
    SearchLayer,
)
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import (
    MAX_OFFSET,
    MAX_RESULTS,
    Mode,
    QueryOptions,
    QueryRequest,
)
from plugins.knowledge.memory.model.responses import (
    LinkedBy,
    ProviderName,
    QueryMetadata,
    QueryResponse,
    QueryResult,
)
from plugins.knowledge.memory.query.authors import Authors
from plugins.knowledge.memory.query.compared import Compared
from plugins.knowledge.memory.query.context import context_of
from plugins.knowledge.memory.query.highlights import highlight
from plugins.knowledge.memory.query.layer_search import (
    CombinedAnswers,
    OnFailure,
    search_layers,
)
from plugins.knowledge.memory.query.links import LinkedAnswers
from plugins.knowledge.memory.query.narrowing import narrowing
from plugins.knowledge.memory.query.parts import questions_in
from plugins.knowledge.memory.query.standing import Challenges, StandingOrder
from plugins.knowledge.memory.query.usage import Usage
from plugins.knowledge.memory.query.wording import reworded, with_wording
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.rights.roles import Roles, require_role
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.store.words import term_ids
from plugins.knowledge.retrieval.foreign_questions import ForeignQuestion, stop_words_of

if TYPE_CHECKING:
    from plugins.knowledge.memory.model.query_context import Vector

T = TypeVar("T")
EMBEDDING_TIMEOUT_S = 10.0
"""How long a question may take to be embedded; the first one waits for the model to be read."""
COMPARED = 40
"""How many answers of a layer are compared first; for later pages more are."""
_UNREAD = "What was found there could not be read."
LAYERS_ON_REQUEST = frozenset({Layer.ARCHIVAL})
"""Layers that answer only where they are named."""


@dataclass(frozen=True, slots=True)
class QueryEngine:
    """The query operation.

    Attributes:
        layers: all of them, in the order in which they are reported.
        sources: where their entries are read.
        embedder: the model, or None where the portal has none.
        vectors: the vector store, likewise.
        usage: counts answers.
        provider: who answers.
        failed: hears why a layer does not answer.
        roles: who may ask.
        authors: finds who wrote what is found.
        standing: puts what holds first.
        linked: finds what answers lead to.
    """

    layers: Sequence[SearchLayer]
    sources: Sequence[EntrySource]
    embedder: Embedder | None
    vectors: MemoryVectors | None
    usage: Usage
    provider: ProviderName
    failed: OnFailure
    roles: Roles
    authors: Authors
    standing: StandingOrder
    linked: LinkedAnswers

    async def __call__(
        self, request: QueryRequest, caller: Caller, floor: float = 0.0
    ) -> QueryResponse:
        """Answer a query (protocol, "Query Endpoint").

        Args:
            request: the query.
            caller: who asks.
            floor: the fit below which an entry does not count as an answer.

        Raises:
            MemoryFailed: the caller may not ask, the question is empty, or none of the layers
                answers.
        """
        require_role(caller, self.roles.read, "ask memory")
        start = time.perf_counter()
        layers = self._asked(request)
        question = await self._question(request, caller, layers)
        options = request.options

        def counts(one: Scored) -> bool:
            return _near_enough(one, options) and _counts(one, options, floor)

        compared, more = await self._compared(layers, question, options, counts)
        gathered, challenges = compared.gathered, compared.challenges
        near = [one for one in compared.found if counts(one)]
        page = near[options.offset : options.offset + options.limit]
        close = (one for one in compared.found if _near_enough(one, options))
        below = [one for one in close if not counts(one)][: options.nearest]
        records, unread = await self._read([*page, *below], question, compared.layers)
        if unread and not records:
            raise _no_answer(unread)
        results = await self._results(page, records, question, options, challenges)
        self.usage.count(result.entry.id for result in results)
        nearest = await self._results(below, records, question, options, challenges)
        return QueryResponse(
            query_id=f"query_{uuid4().hex}",
            results=results,
            metadata=QueryMetadata(
                total_results=len(near),
                execution_time_ms=round(1000 * (time.perf_counter() - start), 3),
                layers_queried=[str(layer) for layer in gathered.asked],
                layers_contributed=[str(layer) for layer in gathered.contributed],
                layers_failed={str(k): note for k, note in {**gathered.notes, **unread}.items()},
                layers_by_words=self._by_words(gathered.asked, request.mode),
                provider=self.provider,
                more_may_fit=more,
            ),
            nearest=nearest if options.nearest else None,
        )

    async def _compared(
        self,
        layers: Sequence[SearchLayer],
        question: Question,
        options: QueryOptions,
        counts: Callable[[Scored], bool],
    ) -> tuple[Compared, bool]:
        """Answers until the page is full, or there are no more; and whether more may count.

        Each time four times as many are compared, and what was compared before stays in front: so
        what stands on a page hangs neither on how many fit on it nor on which page it is.
        """
        whole: Compared | None = None
        while True:
            now = await self._compared_once(layers, question)
            whole = now if whole is None else whole.followed_by(now)
            more = sum(map(counts, now.found)) >= question.limit
            is_full = sum(map(counts, whole.found)) >= options.offset + options.limit
            if is_full or not more or options.top_k or question.limit > MAX_OFFSET:
                return whole, more
            question = replace(question, limit=4 * question.limit)

    async def _compared_once(self, layers: Sequence[SearchLayer], question: Question) -> Compared:
        gathered = await search_layers(layers, question, self.failed)
        gathered = _said_once(await self._with_parts(gathered, layers, question))
        gathered = _said_once(await self.linked.joined(gathered, question))
        if layers and len(gathered.failed) == len(gathered.asked) and not gathered.found:
            raise _no_answer(gathered.notes)
        challenges = await self.standing.challenges(gathered.found, question)
        found = await self.standing.ordered(gathered.found, challenges, question)
        return Compared(gathered, challenges, found)

    def foreign(self, question: str) -> ForeignQuestion | None:
        """The question, where it is in another language than the portal's model."""
        return ForeignQuestion.of(self.embedder.model, question) if self.embedder else None

    async def _with_parts(
        self, gathered: CombinedAnswers, layers: Sequence[SearchLayer], question: Question
    ) -> CombinedAnswers:
        """What a question found, with what its parts find where it asks for several things.

        An answer counts with the part that it answers best.
        """
        for part in questions_in(question, self.standing.reads.clock()):
            asked = replace(part, terms=term_ids(part.text, stop_words_of(question.foreign)))
            if question.vector is not None:
                vector, _ = await self._vector(part.text, question.mode, layers)
                asked = await self._focused(replace(asked, vector=vector))
            more = await search_layers(layers, asked, self.failed)
            gathered = replace(
                gathered,
                found=merge_results([gathered.found, more.found]),
                contributed=list(dict.fromkeys([*gathered.contributed, *more.contributed])),
                layers={**more.layers, **gathered.layers},
            )
        return gathered

    def _asked(self, request: QueryRequest) -> list[SearchLayer]:
        wanted = set(request.layer.types) or set(Layer) - LAYERS_ON_REQUEST
        return [each for each in self.layers if each.layer in wanted]

    def _by_words(self, asked: Sequence[Layer], mode: Mode) -> list[str]:
        """The layers that a question by meaning was put to by its words."""
        if mode is Mode.KEYWORD:
            return []
        return [
            str(layer)
            for layer in asked
            if self.embedder is None or layer not in LAYERS_WITH_VECTORS
        ]

    async def _question(
        self, request: QueryRequest, caller: Caller, layers: Sequence[SearchLayer]
    ) -> Question:
        text = request.query.strip()
        if not text:
            raise MemoryFailed(
                ErrorCode.INVALID_REQUEST, "The query is empty; say what to look for."
            )
        vector, embedding_error = await self._vector(text, request.mode, layers)
        foreign = None if vector is None else self.foreign(text)
        question = Question(
            text=text,
            mode=request.mode,
            keys=caller_keys(caller),
            person=caller.person,
            name=caller.name,
            limit=_compared_first(request),
            terms=term_ids(text, stop_words_of(foreign)),
            vector=vector,
            embedding_error=embedding_error,
            foreign=foreign,
            entry_filter=narrowing(
                request.filters,
                request.layer.user_id,
                caller.person,
                await self.authors.called(request.filters.author, caller.person),
            ),
            agent=request.layer.agent_id,
        )
        return await self._focused(question)

    async def _focused(self, question: Question) -> Question:
        """A question with whom it names, and what it asks of them."""
        names = names_in(question.text)
        question = replace(question, voices=frozenset().union(*map(by.voices, names)), focus=None)
        rest = without_names(question.text, names)
        if question.vector is None or question.mode is not Mode.HYBRID or rest == question.text:
            return question
        other, _ = await self._vector(rest, question.mode, self.layers)
        if other is None:
            return question
        middle = question.vector + other
        return replace(question, focus=middle / float((middle @ middle) ** 0.5 or 1.0))

    async def _vector(
        self, text: str, mode: Mode, layers: Sequence[SearchLayer]
    ) -> tuple[Vector | None, Exception | None]:
        """The question's vector, or why there is none where there should be one."""
        if self.embedder is None or mode is Mode.KEYWORD:
            return None, None
        if all(each.layer not in LAYERS_WITH_VECTORS for each in layers):
            return None, None
        try:
            async with asyncio.timeout(EMBEDDING_TIMEOUT_S):
                return await self.embedder.query(text), None
        except Exception as error:
            return None, error

    async def _read(
        self, page: Sequence[Scored], question: Question, layers: Mapping[str, Layer]
    ) -> tuple[Mapping[str, Record], Mapping[Layer, str]]:
        """What is still there, and still may be seen, of what was found.

        Returns:
            The entries by their ids, and what to know of layers whose entries cannot be read.
        """
        wanted = [one.id for one in page]
        records: dict[str, Record] = {}
        failures: list[Exception] = []
        for source in self.sources:
            left = [id for id in wanted if id not in records]
            try:
                records |= await source.read(left, question.keys)
            except Exception as error:
                failures.append(error)
        unread = dict.fromkeys((layers[id] for id in wanted if id not in records), _UNREAD)
        if not failures:
            return records, {}
        for layer in unread:
            self.failed(layer, failures[0])
        return records, unread

    async def _results(
        self,
        page: Sequence[Scored],
        records: Mapping[str, Record],
        question: Question,
        options: QueryOptions,
        challenges: Challenges,
    ) -> list[QueryResult]:
        if not page:
            return []
        embeddings: Mapping[str, Vector] = {}
        if options.include_embeddings and self.vectors is not None:
            embeddings = await self.vectors.kept.of(list(records.values()))
        asked_terms = frozenset(terms(question.text))
        shown = [records[one.id] for one in page if one.id in records]
        authors = await self.authors.of(shown, question.person, question.name)
        changed = await self.standing.changed_sources(shown, question.keys)
        worded = await reworded(self.standing.reads, shown, question)
        context = await context_of(self.standing.reads, page, records, question.keys)
        return [
            QueryResult(
                layer=records[one.id].layer,
                author=authors[one.id],
                standing=with_wording(
                    self.standing.of(records[one.id], challenges, changed), worded.get(one.id)
                ),
                entry=_shown(records[one.id], embeddings.get(one.id), options),
                score=round(one.score, 4),
                distance=_distance(one, options),
                highlight=highlight(
                    asked_terms, records[one.id].content, records[one.id].metadata.title
                ),
                passage=one.passage,
                linked_by=one.link and LinkedBy(name=one.link.name, entry_id=one.link.entry),
                context=context.get(one.id),
            )
            for one in page
            if one.id in records
        ]


def _compared_first(request: QueryRequest) -> int:
    """How many answers of a layer are compared first; of what held at a moment some falls away."""
    wanted = request.options.top_k or COMPARED
    return wanted if request.filters.as_of is None else max(wanted, MAX_RESULTS)


def _said_once(gathered: CombinedAnswers) -> CombinedAnswers:
    """The same with a turn of a conversation or what was found in it, and not with both."""
    return replace(gathered, found=without_repeats(gathered.found))


def _near_enough(one: Scored, options: QueryOptions) -> bool:
    apart = _distance(one, options)
    return (
        options.distance_threshold is None or apart is None or apart <= options.distance_threshold
    )


def _counts(one: Scored, options: QueryOptions, floor: float) -> bool:
    fits = one.score if one.fit is None else one.fit
    return one.score >= (options.min_score or 0.0) and fits >= floor


def _distance(one: Scored, options: QueryOptions) -> float | None:
    return None if one.cosine is None else round(distance(one.cosine, options.distance_metric), 6)


def _shown(record: Record, embedding: Vector | None, options: QueryOptions) -> KnowledgeEntry:
    vector = None if embedding is None else tuple(float(each) for each in embedding)
    entry = record.entry(vector)
    return entry if options.include_content else entry.model_copy(update={"content": ""})


def _no_answer(notes: Mapping[Layer, str]) -> MemoryFailed:
    told = {str(layer): note for layer, note in notes.items()}
    return MemoryFailed(
        ErrorCode.QUERY_FAILED,
        "None of the layers answers. Ask again in a minute; the portal's admin finds why in the "
        "log.",
        {"layers": told},
    )
