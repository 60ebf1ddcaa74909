"""Answers that other answers lead to: both name one thing that few entries name.

A question that takes two entries has the words of the first one alone. What the best answers name
leads to the second, which is worth a part of what they are worth beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from plugins.knowledge.memory.algorithms.entities import rarity
from plugins.knowledge.memory.algorithms.relevance import score, sort_by_score
from plugins.knowledge.memory.algorithms.similarity import score as similarity
from plugins.knowledge.memory.algorithms.turns import is_found_in
from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS
from plugins.knowledge.memory.model.query_context import Link, Question, Scored
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.query.layer_search import CombinedAnswers
from plugins.knowledge.memory.query.standing import StandingOrder
from plugins.knowledge.memory.store.entity_links import EntityLinks, Naming
from plugins.knowledge.memory.store.vectors import MemoryVectors

MAX_SOURCES = 3
"""Answers, the best ones that hold, whose names are followed."""
LOOKED_AT = 10
"""Answers, the best ones, among which these are."""
MAX_LINKED = 3
"""Entries that this raises, so that what answers by itself is not crowded out."""
W_LINKED = 0.8
"""The share added to an entry of how much higher the answer scores that names the same thing, where
no third entry names it."""


@dataclass(frozen=True, slots=True)
class LinkedAnswers:
    """Finds what answers lead to.

    Attributes:
        links: which entries name the same.
        vectors: the vector store, or None where the portal has no model.
        standing: says which answers hold; what is over leads nowhere.
    """

    links: EntityLinks
    vectors: MemoryVectors | None
    standing: StandingOrder

    async def joined(self, gathered: CombinedAnswers, question: Question) -> CombinedAnswers:
        """What was found, with what the best of it leads to.

        Layers that are asked by words alone lead nowhere: what is said there is of the moment.
        """
        layers = [each for each in gathered.asked if each in LAYERS_WITH_VECTORS]
        if question.mode is Mode.KEYWORD or not layers:
            return gathered
        kept = [one for one in gathered.found if one.number][:LOOKED_AT]
        sources = (await self.standing.holding(kept, question))[:MAX_SOURCES]
        named = await self.links.of([one.number for one in sources], layers, question)
        if not named:
            return gathered
        best = {one.id: one for one in gathered.found}
        new = {each.scored.id: each for each in named if each.scored.id not in best}
        known = best | await self._meant(new, question)
        raised = _raised(sources, named, known, question.text.casefold())
        found = sort_by_score((best | {one.id: one for one in raised}).values())
        homes = {id: each.layer for id, each in new.items()}
        return replace(gathered, found=found, layers={**homes, **gathered.layers})

    async def _meant(self, new: Mapping[str, Naming], question: Question) -> dict[str, Scored]:
        """Entries that the question did not find, with how near they are to it."""
        cosines: dict[str, float] = {}
        if self.vectors is not None and (vector := question.meaning) is not None:
            for layer in {each.layer for each in new.values()}:
                ids = {id for id, each in new.items() if each.layer is layer}
                with suppress(Exception):  # they are not near then, and may still be led to
                    near = await self.vectors.nearest({layer}, question, vector, ids)
                    cosines |= {each.id: each.cosine for each in near}
        return {
            id: _weighed(each.scored, question.mode, cosines.get(id)) for id, each in new.items()
        }


def _weighed(one: Scored, mode: Mode, cosine: float | None) -> Scored:
    alike = similarity(cosine or 0.0)
    return one.with_score(score(mode, alike, 0.0), fit=alike, cosine=cosine)


def _raised(
    sources: Sequence[Scored], named: Sequence[Naming], known: Mapping[str, Scored], asked: str
) -> list[Scored]:
    """What the sources lead to, each by its rarest name, with the score that this gives it."""
    leading = {one.id for one in sources}
    by_name: dict[str, list[Naming]] = {}
    for each in sorted(named, key=lambda each: -len(each.name)):  # of equals the longest counts
        if each.name not in asked:  # what the question names itself is found by that
            by_name.setdefault(each.name, []).append(each)
    best: dict[str, Scored] = {}
    for some in by_name.values():
        for source, each in product((one for one in some if one.scored.id in leading), some):
            if is_found_in(each.scored, source.scored) or is_found_in(source.scored, each.scored):
                continue  # one of the two is the answer
            one = _led(known[each.scored.id], known[source.scored.id], each)
            if one is not None and each.repeats(source):
                one = one.with_score(one.score, link=None)  # as good, and nothing to tell of
            if one is not None and (one.id not in best or one.score > best[one.id].score):
                best[one.id] = one
    return sort_by_score(best.values())[:MAX_LINKED]


def _led(one: Scored, source: Scored, naming: Naming) -> Scored | None:
    """An entry with a part of what an answer is worth beyond it; None where that is nothing."""
    share = W_LINKED * rarity(naming.entries)
    if source.score <= one.score:
        return None
    fits = None
    if one.fit is not None:
        fits = one.fit + share * max(0.0, (source.fit or source.score) - one.fit)
    worth = one.score + share * (source.score - one.score)
    return one.with_score(worth, fit=fits, link=Link(naming.name, source.id, one.score))
