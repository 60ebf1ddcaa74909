"""Working memory: in this process alone, of one caller and agent, for as long as it is used.

It is a scratch pad, so it is small: a caller's oldest entries make room for new ones, and the pads
that nobody used for longest for those of others.
"""

from __future__ import annotations

import json
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
MOST_BYTES = 4 * 1024 * 1024
"""The memory that entries of one caller take, about; the last one written is always kept."""
MOST_CALLERS = 10_000
"""Callers whose entries are kept; those of the one who was away longest go first."""
MOST_OF_ALL = 256 * 1024 * 1024
"""The memory that all of them take, about; again those who were away longest make room."""


@dataclass(frozen=True, slots=True)
class _Held:
    record: Record
    weights: dict[int, float]
    labels: frozenset[str]
    size: int


@dataclass(slots=True)
class _Pad:
    held: OrderedDict[str, _Held]
    used: float
    size: int = 0


class WorkingLayer:
    """The working memory of everyone.

    Args:
        clock: seconds that only grow; replaced in tests.
    """

    layer = Layer.WORKING

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pads: OrderedDict[str, _Pad] = OrderedDict()
        self._owners: dict[str, str] = {}
        self._size = 0

    @property
    def size(self) -> int:
        """The memory that all entries take, about, in bytes."""
        return self._size

    async def search(self, question: Question) -> Answers:
        """The caller's own entries that have the question's words, best first."""
        pad = self._pad(question.person)
        if pad is None:
            return Answers()
        found = [
            Scored(one.record.id, told, one.record.changed)
            for one in pad.held.values()
            if not one.weights.keys().isdisjoint(question.terms)
            and _asked_for(one, question)
            and (told := _score(one, question.terms)) > 0
        ]
        return Answers(ordered(found)[: question.limit])

    async def read(self, ids: Collection[str], keys: frozenset[str]) -> dict[str, Record]:
        """Entries by their ids; another caller's are as if they were not there."""
        found = ((id, self._held(id)) for id in ids)
        return {
            id: one.record
            for id, one in found
            if one is not None and person_key(one.record.owner) in keys
        }

    def holds(self, id: str) -> bool:
        """Whether an entry has this id, whoever it is of."""
        return self._held(id) is not None

    def put(self, records: Iterable[Record]) -> None:
        """Write entries, each to its owner's pad."""
        for record in records:
            pad = self._pad(record.owner)
            if pad is None:
                pad = self._pads[record.owner] = _Pad(OrderedDict(), self._clock())
            self.take([record.id])
            one = _held(record)
            pad.held[record.id] = one
            self._owners[record.id] = record.owner
            self._grow(pad, one.size)
            while len(pad.held) > MOST or (pad.size > MOST_BYTES and len(pad.held) > 1):
                self.take([next(iter(pad.held))])
            self._touch(record.owner, pad)
        while len(self._pads) > MOST_CALLERS or (self._size > MOST_OF_ALL and len(self._pads) > 1):
            self.forget(next(iter(self._pads)))

    def take(self, ids: Iterable[str]) -> list[Record]:
        """Remove entries; those that were there."""
        taken = []
        for id in ids:
            if (one := self._held(id)) is not None:
                pad = self._pads[self._owners.pop(id)]
                del pad.held[id]
                self._grow(pad, -one.size)
                taken.append(one.record)
        return taken

    def used(self, uses: Mapping[str, int]) -> None:
        """Count how often entries were answers, or were read, by their ids."""
        for id, more in uses.items():
            if (one := self._held(id)) is not None:
                counted = replace(one.record, uses=one.record.uses + more)
                self._pads[one.record.owner].held[id] = replace(one, record=counted)

    def everything(self) -> list[Record]:
        """All entries, for those that are to be promoted; what nobody used for long is gone."""
        for person in [each for each, pad in self._pads.items() if not self._fresh(pad)]:
            self.forget(person)
        return [one.record for pad in self._pads.values() for one in pad.held.values()]

    def listed(self, person: str | None, narrowing: Narrowing) -> list[Record]:
        """A person's own entries, in no order."""
        pad = self._pad(person)
        if pad is None:
            return []
        return [one.record for one in pad.held.values() if _admits(narrowing, one)]

    def forget(self, person: str) -> None:
        """Remove all of a person's entries."""
        pad = self._pads.pop(person, None)
        if pad is not None:
            self._size -= pad.size
            for id in pad.held:
                del self._owners[id]

    def _held(self, id: str) -> _Held | None:
        pad = self._pads.get(self._owners.get(id, ""))
        return pad.held[id] if pad is not None and self._fresh(pad) else None

    def _grow(self, pad: _Pad, by: int) -> None:
        pad.size += by
        self._size += by

    def _pad(self, person: str | None) -> _Pad | None:
        pad = self._pads.get(person or "")
        if pad is None:
            return None
        if not self._fresh(pad):
            self.forget(person or "")
            return None
        self._touch(person or "", pad)
        return pad

    def _fresh(self, pad: _Pad) -> bool:
        return self._clock() - pad.used < IDLE_SECONDS

    def _touch(self, person: str, pad: _Pad) -> None:
        pad.used = self._clock()
        self._pads.move_to_end(person)


def _held(record: Record) -> _Held:
    terms, own = weights(record.text), labels(record)
    written = len(json.dumps(record.fields())) + len(record.text)
    return _Held(record, terms, own, written + _EACH * (10 + len(terms) + len(own)))


_EACH = 120
"""Bytes that a term, or a label, takes in the process, about."""


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
