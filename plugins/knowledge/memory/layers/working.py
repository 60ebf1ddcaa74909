"""Working memory: in this process alone, of one caller and agent, for as long as it is used.

It is a scratch pad, so it is small: a caller's oldest entries make room for new ones.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from plugins.knowledge.memory.access import person_key
from plugins.knowledge.memory.asking import Answers, Narrowing, Question
from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.labels import labels
from plugins.knowledge.memory.ranking import Mode, Scored, ordered, score, words_score
from plugins.knowledge.memory.records import Record
from plugins.knowledge.memory.store.words import weights

IDLE_SECONDS = 3600.0
"""How long what nobody uses is kept."""
MOST = 200
"""Entries of one caller."""
MOST_CALLERS = 10_000
"""Callers whose entries are kept; those of the one who was away longest go first."""


@dataclass(frozen=True, slots=True)
class _Held:
    record: Record
    weights: dict[int, float]
    labels: frozenset[str]


@dataclass(slots=True)
class _Pad:
    held: OrderedDict[str, _Held]
    used: float


class WorkingLayer:
    """The working memory of everyone.

    Args:
        clock: seconds that only grow; replaced in tests.
    """

    layer = Layer.WORKING

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pads: OrderedDict[str, _Pad] = OrderedDict()

    async def search(self, question: Question) -> Answers:
        """The caller's own entries that have the question's words, best first."""
        pad = self._pad(question.person)
        if pad is None:
            return Answers()
        found = [
            Scored(one.record.id, told, one.record.changed)
            for one in pad.held.values()
            if _asked_for(one, question) and (told := _score(one, question.terms)) > 0
        ]
        return Answers(ordered(found)[: question.limit])

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Entries by their ids; another caller's are as if they were not there."""
        return {
            one.record.id: one.record
            for pad in self._pads.values()
            for id in ids
            if (one := pad.held.get(id)) is not None
            and person_key(one.record.owner) in keys
            and self._fresh(pad)
        }

    def put(self, records: Iterable[Record]) -> None:
        """Write entries, each to its owner's pad."""
        for record in records:
            pad = self._pads.setdefault(record.owner, _Pad(OrderedDict(), 0.0))
            if not self._fresh(pad):
                pad.held.clear()
            pad.held[record.id] = _Held(record, weights(record.text), labels(record))
            pad.held.move_to_end(record.id)
            while len(pad.held) > MOST:
                pad.held.popitem(last=False)
            self._touch(record.owner, pad)
        while len(self._pads) > MOST_CALLERS:
            self._pads.popitem(last=False)

    def take(self, ids: Iterable[str]) -> list[Record]:
        """Remove entries; those that were there."""
        return [
            held.record
            for id in ids
            for pad in self._pads.values()
            if (held := pad.held.pop(id, None)) is not None
        ]

    def used(self, uses: Mapping[str, int]) -> None:
        """Count how often entries were answers, or were read, by their ids."""
        for pad in self._pads.values():
            for id in pad.held.keys() & uses.keys():
                one = pad.held[id]
                counted = replace(one.record, uses=one.record.uses + uses[id])
                pad.held[id] = replace(one, record=counted)

    def everything(self) -> list[Record]:
        """All entries, for those that are to be promoted."""
        fresh = [pad for pad in self._pads.values() if self._fresh(pad)]
        return [one.record for pad in fresh for one in pad.held.values()]

    def forget(self, person: str) -> None:
        """Remove all of a person's entries."""
        self._pads.pop(person, None)

    def _pad(self, person: str | None) -> _Pad | None:
        pad = self._pads.get(person or "")
        if pad is None:
            return None
        if not self._fresh(pad):
            del self._pads[person or ""]
            return None
        self._touch(person or "", pad)
        return pad

    def _fresh(self, pad: _Pad) -> bool:
        return self._clock() - pad.used < IDLE_SECONDS or not pad.held

    def _touch(self, person: str, pad: _Pad) -> None:
        pad.used = self._clock()
        self._pads.move_to_end(person)


def _asked_for(one: _Held, question: Question) -> bool:
    if question.agent is not None and one.record.agent != question.agent:
        return False
    return _admits(question.narrowing, one)


def _admits(narrowing: Narrowing, one: _Held) -> bool:
    created = one.record.created
    return (
        all(not group.isdisjoint(one.labels) for group in narrowing.labels)
        and (narrowing.after is None or created >= narrowing.after)
        and (narrowing.before is None or created <= narrowing.before)
        and (narrowing.owner is None or one.record.owner == narrowing.owner)
    )


def _score(one: _Held, terms: Sequence[int]) -> float:
    """How well its words fit; in so few entries a word's rarity says nothing."""
    found = sum(one.weights.get(term, 0.0) for term in terms)
    return score(Mode.KEYWORD, None, words_score(found * _RARITY))


_RARITY = 4.0
"""What a term counts, about as much as a rare one does in the other layers."""
