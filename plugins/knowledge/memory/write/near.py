"""Finds the earlier entries that are near a new one, and what it does to them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.contract import Caller
from gateway.toolkit.bm25 import term_id
from plugins.knowledge.memory.algorithms.claims import claims
from plugins.knowledge.memory.algorithms.contradictions import Likeness, compare
from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS, Layer
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.model.query_context import EntryFilter, Question
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.model.responses import NearEntry
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.recent import Moment, Recent
from plugins.knowledge.memory.store.relations import Relations
from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.store.words import term_ids

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from plugins.knowledge.memory.store.vectors import Vector

Near = tuple[Likeness, Record]
"""An earlier entry, and how near it is."""
CANDIDATES = 20
"""Earlier entries that a new one is compared with, by meaning."""
CANDIDATES_BY_WORDS = 6
"""The same of each layer by words, for an entry without a vector: those with most of them."""
TERMS_COMPARED = 6
"""Terms of such an entry by which these are found: each costs a walk through all that have it."""
MAX_NAMED = 3
"""Earlier entries that a writer is told of."""
MIN_NEAR = 0.6
"""The cosine from which on an entry that contradicts nothing is named as near."""
MAX_EXCERPT = 240
"""Characters of each."""
SAYS_THE_SAME = "it says the same"
"""Why an entry of the same words is named, which another person or other readers have."""
COMPARED_TOGETHER = LAYERS_WITH_VECTORS - {Layer.ARCHIVAL}
"""Layers whose entries are compared with those of all of these, and with the archive: what is told
in a conversation changes what is known, and what all are told changes what one has noted."""
MAX_COMPARED = 2_000
"""Characters of a text that is compared; longer ones state many things."""


@dataclass(slots=True)
class Look:
    """A look for earlier entries near a new one.

    Attributes:
        record: the new one.
        vector: its vector, or None where it has none.
        keys: of who writes; nothing is found that they may not read.
        layers: where was looked.
        begun: when; None where nothing is to be found.
        near: what was found, the likeliest first.
    """

    record: Record
    vector: Vector | None
    keys: frozenset[str]
    layers: frozenset[Layer] = frozenset()
    begun: Moment | None = None
    near: list[Near] = field(default_factory=list)

    def add(self, others: Iterable[Record], cosines: Mapping[str, float | None]) -> None:
        """Compare the new entry with earlier ones, and keep those that are near.

        Args:
            others: these; those that are known already are left out.
            cosines: how near each is, by its id, if known.
        """
        known = {each.id for _, each in self.near} | {self.record.id}
        found = [
            (_compared(self.record, each, cosines[each.id]), each)
            for each in others
            if each.id in cosines
            and each.id not in known
            and each.layer in self.layers
            and len(each.content) <= MAX_COMPARED
        ]
        self.near += [pair for pair in found if _counts(pair[0])]
        self.near.sort(key=lambda pair: (not pair[0].replaces, -pair[0].cosine, pair[1].id))


@dataclass(frozen=True, slots=True)
class NearEntries:
    """Finds entries that are near a new one.

    Attributes:
        store: how entries go together.
        reads: the entries.
        vectors: the vector store, or None where the portal has no model.
        recent: what was written a moment ago.
    """

    store: Relations
    reads: Reads
    vectors: MemoryVectors | None
    recent: Recent

    async def __call__(self, record: Record, vector: Vector | None, caller: Caller) -> Look:
        """Look for earlier entries that are near in meaning.

        Args:
            record: the new entry.
            vector: its vector, or None where it has none.
            caller: who writes; nothing is found that they may not read.
        """
        held = caller_keys(caller)
        if record.layer is Layer.WORKING or len(record.content) > MAX_COMPARED:
            return Look(record, vector, held)
        layers: frozenset[Layer] = frozenset({record.layer})
        if record.layer in COMPARED_TOGETHER and (vector is not None or self.vectors is None):
            layers = COMPARED_TOGETHER | {Layer.ARCHIVAL}
        question = Question(
            text=record.text,
            mode=Mode.HYBRID,
            keys=held,
            person=caller.person,
            limit=CANDIDATES_BY_WORDS if vector is None else CANDIDATES,
            terms=() if vector is not None else _about(record),
            vector=vector,
            entry_filter=EntryFilter(),
        )
        look = Look(record, vector, held, layers, await self.recent.moment())
        archive = {Layer.ARCHIVAL}
        current, archived = await asyncio.gather(
            self._candidates(layers - archive, question),
            self._candidates(layers & archive, question),
        )
        cosines = current | archived
        found = list((await self.reads.read(cosines, held)).values())
        turns = _turns(record, found)
        told_apart = await self.store.told_apart(turns, held) if turns else frozenset()
        look.add(_apart(record, found, told_apart), cosines)
        return look

    async def again_in(self, connection: AsyncConnection, look: Look) -> None:
        """Look once more, for what was written while the first look went on.

        Two who contradict each other at the same moment do not find each other otherwise: neither
        entry is there when the other one is looked for.

        Args:
            connection: of the transaction that writes the entry; it holds the lock that orders
                writes, so that nothing else is written until it ends.
            look: the first look, which takes what is found.
        """
        if look.begun is None:
            return
        by_words = look.vector is None
        found = await self.recent.unknown_in(connection, look.begun, look.keys, by_words=by_words)
        if not found:
            return
        cosines = await self._cosines_in(connection, look, found)
        turns = _turns(look.record, found)
        told_apart = await self.store.told_apart_in(connection, turns, look.keys)
        look.add(_apart(look.record, found, told_apart), cosines)

    async def named(
        self, near: Sequence[Near], decided: Collection[str], caller: Caller
    ) -> list[NearEntry]:
        """What a writer is told of: what holds, and of which they have not said how it goes.

        Args:
            near: the earlier entries that are near.
            decided: the ids of those of which the writer says how they go together with the new
                one.
            caller: the writer.
        """
        told = [
            (likeness, each)
            for likeness, each in near
            if each.id not in decided and (likeness.replaces or likeness.cosine >= MIN_NEAR)
        ]
        challenged = {each.id for _, each in told if each.challenged}
        ended = await self.store.ended(challenged, caller_keys(caller))
        holding = [
            _near(likeness, each)
            for likeness, each in told
            if each.id not in ended and not self.store.is_over(each)
        ]
        return holding[:MAX_NAMED]

    async def _candidates(
        self, layers: Collection[Layer], question: Question
    ) -> dict[str, float | None]:
        """The ids of some layers' entries to compare with, each with how near it is, if known.

        The vectors of all that are given are in one collection.
        """
        if not layers:
            return {}
        vectors, vector = self.vectors, question.vector
        if vectors is None or vector is None:
            words = [await self.reads.search_words(each, question) for each in sorted(layers)]
            return {one.id: None for each in words for one in each.found}
        try:
            near = await vectors.nearest(layers, question, vector)
        except Exception:  # the vector store is away: the words' candidates are left
            return {}
        return {each.id: each.cosine for each in near if each.passage == 0}

    async def _cosines_in(
        self, connection: AsyncConnection, look: Look, others: Sequence[Record]
    ) -> dict[str, float | None]:
        """How near entries are to the new one, by their ids, if known.

        An entry with a vector is compared with those that have one.
        """
        if self.vectors is None or look.vector is None:
            return dict.fromkeys(each.id for each in others)
        kept = await self.vectors.kept.of_in(connection, others)
        return {id: float(look.vector @ vector) for id, vector in kept.items()}


def _about(record: Record) -> tuple[int, ...]:
    """The terms that tell best what an entry is about: those of subjects, then the first ones."""
    told = claims(record.content, record.metadata.author or "")
    subjects = {term_id(term) for each in told for term in each.subject | each.attribute}
    ordered = sorted(term_ids(record.text), key=lambda term: term not in subjects)
    return tuple(ordered[:TERMS_COMPARED])


def _turns(record: Record, others: Iterable[Record]) -> set[int]:
    """The numbers of the entries that may be turns in which something was found."""
    found = {each.number for each in others if each.layer is Layer.EPISODIC}
    return {record.number, *found} - {0}


def _apart(
    record: Record, others: Iterable[Record], told_apart: Collection[int]
) -> Iterable[Record]:
    """Entries that an entry is compared with: no turn whose facts are, nor its own."""
    if record.number in told_apart:
        return ()
    left_out = {record.taken_from, *told_apart}
    return (each for each in others if each.number not in left_out)


def _repeats(record: Record, other: Record) -> bool:
    """Whether an entry says what another does, in the same words and not of another time."""
    times = {(each.validity.valid_from, each.validity.valid_until) for each in (record, other)}
    of_two_times = len(times) == 2 and (None, None) not in times
    return record.fingerprint == other.fingerprint and not of_two_times


def _compared(record: Record, other: Record, cosine: float | None) -> Likeness:
    """How an entry compares with an earlier one; in the same words it is near.

    What its owner has said so for the same readers is no other one, and never added
    (``duplicates.py``).
    """
    if _repeats(record, other):
        return Likeness(False, 1.0, SAYS_THE_SAME)
    if record.fingerprint == other.fingerprint:
        return Likeness(False, 1.0, "the same words, of another time")
    return compare(record, other, cosine)


def _counts(likeness: Likeness) -> bool:
    """Whether it matters that an entry is near: to who writes, or to the order of answers."""
    return likeness.replaces or likeness.one_thing or likeness.cosine >= MIN_NEAR


def _near(likeness: Likeness, record: Record) -> NearEntry:
    return NearEntry(
        id=record.id,
        content=beginning(record.content, MAX_EXCERPT),
        similarity=round(likeness.cosine, 3),
        seems=Relation.SEEMS_TO_REPLACE if likeness.replaces and not likeness.reversed else None,
        later=likeness.reversed,
        why=likeness.why,
        changed=record.changed,
        layer=record.layer,
    )
