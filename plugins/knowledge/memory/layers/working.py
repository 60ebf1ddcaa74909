"""Working memory: kept in this process, for one caller and agent, while it is used.

It is a scratch pad, so it is small: a caller's oldest entries make room for new ones, and the pads
unused for longest make room for those of other callers.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from plugins.knowledge.memory.algorithms.relevance import score, sort_by_score, words_score
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.labels import labels
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.query_context import EntryFilter, LayerAnswers, Question, Scored
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.store.words import weights

IDLE_TIMEOUT_S = 3600.0
"""Seconds after which an unused pad is dropped."""
MAX_ENTRIES = 200
"""Entries of one caller."""
MAX_BYTES = 4 * 1024 * 1024
"""Bytes of one caller's entries, roughly; the last one written is always kept."""
MAX_CALLERS = 10_000
"""Callers whose entries are kept; the one away for longest loses theirs first."""
MAX_TOTAL_BYTES = 256 * 1024 * 1024
"""Bytes of all entries, roughly; again the callers away for longest make room."""


@dataclass(frozen=True, slots=True)
class _Held:
    record: Record
    fingerprint: str
    terms: tuple[int, ...]
    labels: frozenset[str]
    size: int


@dataclass(slots=True)
class _Pad:
    """One caller's entries by their ids, and the weights of their terms by term and id."""

    held: OrderedDict[str, _Held]
    used: float
    weights: dict[int, dict[str, float]]
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

    async def search(self, question: Question) -> LayerAnswers:
        """The caller's own entries that have the question's words, best first."""
        pad = self._pad(question.person)
        if pad is None:
            return LayerAnswers()
        told = _scores(pad, question)
        if len(told) > question.limit:  # what is as good as the last one may be the newer
            least = sorted(told.values(), reverse=True)[question.limit - 1]
            told = {id: worth for id, worth in told.items() if worth >= least}
        found = [_scored(pad.held[id].record, worth) for id, worth in told.items()]
        return LayerAnswers(sort_by_score(found)[: question.limit])

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
                pad = self._pads[record.owner] = _Pad(OrderedDict(), self._clock(), {})
            self.take([record.id])
            one = _held(record, pad)
            pad.held[record.id] = one
            self._owners[record.id] = record.owner
            self._grow(pad, one.size)
            while len(pad.held) > MAX_ENTRIES or (pad.size > MAX_BYTES and len(pad.held) > 1):
                self.take([next(iter(pad.held))])
            self._touch(record.owner, pad)
        while len(self._pads) > MAX_CALLERS or (
            self._size > MAX_TOTAL_BYTES and len(self._pads) > 1
        ):
            self.forget(next(iter(self._pads)))

    def take(self, ids: Iterable[str]) -> list[Record]:
        """Remove entries; those that were there."""
        taken = []
        for id in ids:
            if (one := self._held(id)) is not None:
                pad = self._pads[self._owners.pop(id)]
                del pad.held[id]
                _forget_terms(pad, one)
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

    def listed(self, person: str | None, entry_filter: EntryFilter) -> list[Record]:
        """A person's own entries, in no order."""
        pad = self._pad(person)
        if pad is None:
            return []
        return [one.record for one in pad.held.values() if _admits(entry_filter, one)]

    def duplicates_of(self, record: Record, now: datetime) -> list[Record]:
        """What the owner's pad holds that says the same of the same time, by the same agent.

        Args:
            record: what is said now.
            now: the time.
        """
        pad = self._pad(record.owner)
        said, kept = record.fingerprint, [] if pad is None else pad.held.values()
        alike = (one.record for one in kept if one.fingerprint == said)
        return [
            each
            for each in alike
            if each.id != record.id
            and each.agent == record.agent
            and record.validity.repeats(each.validity, now, is_event=False)
        ]

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
        return self._clock() - pad.used < IDLE_TIMEOUT_S

    def _touch(self, person: str, pad: _Pad) -> None:
        pad.used = self._clock()
        self._pads.move_to_end(person)


def _held(record: Record, pad: _Pad) -> _Held:
    """A record as it is kept, the weights of its terms beside it in the pad."""
    found, own = weights(record.text), labels(record)
    for term, weight in found.items():
        pad.weights.setdefault(term, {})[record.id] = weight
    written = len(json.dumps(record.fields())) + len(record.text)
    size = written + _BYTES_PER_TERM * (10 + len(found) + len(own))
    return _Held(record, record.fingerprint, tuple(found), own, size)


def _forget_terms(pad: _Pad, one: _Held) -> None:
    for term in one.terms:
        having = pad.weights[term]
        del having[one.record.id]
        if not having:
            del pad.weights[term]


_BYTES_PER_TERM = 120
"""Bytes that a term, or a label, takes in the process, about."""


def _matches(one: _Held, question: Question) -> bool:
    if question.agent is not None and one.record.agent != question.agent:
        return False
    return _admits(question.entry_filter, one)


def _admits(entry_filter: EntryFilter, one: _Held) -> bool:
    created = one.record.created
    return (
        all(not group.isdisjoint(one.labels) for group in entry_filter.labels)
        and (entry_filter.after is None or created >= entry_filter.after)
        and (entry_filter.before is None or created <= entry_filter.before)
        and (entry_filter.owner is None or one.record.owner == entry_filter.owner)
        and entry_filter.is_of_its_time(one.record)
        and (entry_filter.written is None or entry_filter.written.has(one.record))
        and (
            entry_filter.as_of is None
            or one.record.validity.holds_at(entry_filter.as_of, one.record.created)
        )
    )


def _scores(pad: _Pad, question: Question) -> dict[str, float]:
    """How well the words of each entry fit that has any, and that is what is asked for.

    In so few entries a word's rarity says nothing.
    """
    sums: dict[str, float] = {}
    for term in question.terms:
        for id, weight in pad.weights.get(term, _NONE).items():
            sums[id] = sums.get(id, 0.0) + weight
    if question.agent is not None or question.entry_filter != _ANYTHING:
        sums = {id: found for id, found in sums.items() if _matches(pad.held[id], question)}
    scores = {id: _score(found) for id, found in sums.items()}
    return {id: worth for id, worth in scores.items() if worth > 0}


def _scored(record: Record, worth: float) -> Scored:
    begun, times = record.created, record.validity
    return Scored(record.id, worth, record.changed, created=begun, validity=times)


def _score(found: float) -> float:
    return score(Mode.KEYWORD, None, words_score(found * _TERM_RARITY))


_NONE: Mapping[str, float] = {}
_ANYTHING = EntryFilter()
_TERM_RARITY = 4.0
"""What a term counts, about as much as a rare one does in the other layers."""
