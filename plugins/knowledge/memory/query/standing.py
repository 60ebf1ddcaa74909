"""What holds comes first: answers that another one ends, or that time did, stand behind it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from plugins.knowledge.memory.algorithms.relevance import sort_by_score
from plugins.knowledge.memory.algorithms.subject import subject_of
from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.model.policy import MEMBERS_KEY
from plugins.knowledge.memory.model.query_context import EntrySource, Question, Scored
from plugins.knowledge.memory.model.record import NOBODY, Record
from plugins.knowledge.memory.model.responses import Standing
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.query.earlier_answers import said_since
from plugins.knowledge.memory.query.moments import dated_back, has_begun, held_at, since
from plugins.knowledge.memory.store.reads import Reads
from plugins.knowledge.memory.store.relations import Challenge, Relations
from plugins.knowledge.memory.store.words import term_ids
from plugins.knowledge.standing import times_in_words, told_end

W_ENDED = 0.6
"""The factor on the score of an entry that holds no more."""
W_DOUBTED = 0.9
"""The factor on the score of an entry that seems to be replaced."""
W_OLDER = 0.98
"""The factor on the score of an entry where a newer one about the same thing answers as well."""
AS_GOOD = 0.6
"""The newer entry answers as well where it scores at least this share of the older one's score."""
AS_NEAR = 0.2
"""How much less near to the question the newer one may be, in cosine, where it says other things:
what is said later of a thing is mostly of another property of it."""
SAID_AGAIN = 0.7
"""The share of the older one's terms from which on the newer one says it again, or denies it: "the
wiki runs on Postgres, not on MySQL"."""
NEWER_AMONG = 5
"""Answers, the best ones, among which the newer of two about one thing goes first: below them it is
newer, and no answer."""
MAX_STEPS = 10
"""Successors of successors that are looked for."""
_EVERY_NOTE = frozenset({MEMBERS_KEY})
DEFAULT_REVIEW_AGE = timedelta(days=365)
"""After how long without a look an entry is marked."""


@dataclass(frozen=True, slots=True)
class Challenges:
    """What is at odds with some entries.

    Attributes:
        by_target: by the ids of the earlier ones.
        layers: where the later ones are, by their ids.
        since: from when on these hold, where a question asks for what held at a moment.
    """

    by_target: Mapping[str, Sequence[Challenge]] = field(default_factory=dict)
    layers: Mapping[str, Layer] = field(default_factory=dict)
    since: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StandingOrder:
    """Puts what holds first, and says of the rest why it does not.

    Attributes:
        relations: what supersedes what.
        reads: the entries.
        clock: gives the time, with its zone.
        notes: the knowledge base, against which entries may be verified.
        review_age: after how long without a look an entry is marked.
    """

    relations: Relations
    reads: Reads
    clock: Callable[[], datetime]
    notes: EntrySource
    review_age: timedelta = DEFAULT_REVIEW_AGE

    async def challenges(self, found: Sequence[Scored], question: Question) -> Challenges:
        """What is at odds with answers, and with that in turn, as far as the caller may read it.

        Args:
            found: the answers, the best first.
            question: who asks, and what; what they may not read makes no mark for them.
        """
        since, keys = await said_since(self.reads, found, question), question.keys
        by_target = {id: list(some) for id, some in since.items()}
        answers = {one.id for one in found[:NEWER_AMONG]}
        wanted = {one.id for one in found if one.challenged}
        for _ in range(MAX_STEPS):
            if not wanted:
                break
            known = await self.relations.challenging(wanted, keys, answers)
            for each in known:
                by_target.setdefault(each.target, []).append(each)
            wanted = {each.entry for each in known if each.challenged and each.kind.marks_the_other}
            wanted -= by_target.keys()
        layers = {each.entry: each.layer for some in by_target.values() for each in some}
        return Challenges(by_target, layers)

    async def holding(self, found: Sequence[Scored], question: Question) -> list[Scored]:
        """Those of some answers that hold, or held at the moment that is asked for.

        Args:
            found: the answers.
            question: who asks, and for which moment.
        """
        challenged = {one.id for one in found if one.challenged}
        by_target: dict[str, list[Challenge]] = {}
        for each in await self.relations.challenging(challenged, question.keys, ()):
            by_target.setdefault(each.target, []).append(each)
        now = self.clock()
        return held_at(found, by_target, question.entry_filter.as_of or now, now)

    async def ordered(
        self, found: Sequence[Scored], challenges: Challenges, question: Question
    ) -> list[Scored]:
        """Answers with what holds before what it ends; a successor answers where the earlier does.

        As of a moment only what held then is left, in the order that it had then.

        Args:
            found: the best first.
            challenges: what is at odds with them.
            question: who asks, and what an answer must be.
        """
        as_of = question.entry_filter.as_of
        now = as_of or self.clock()
        if as_of is not None:
            moved = dated_back(found, challenges.by_target)
            found = [since(one, moved.since) for one in found]
            challenges = replace(challenges, by_target=moved.by_target, since=moved.since)
        best = {one.id: one for one in found}
        begun = _begun(challenges, now)
        said = await self._said(begun, best)
        begun = _as_good(begun, best, said, term_ids(subject_of(question.text)))
        missing = await self._missing(best, begun, question)
        best |= {one.id: one for one in missing}
        for _ in range(MAX_STEPS):  # a chain is settled from its beginning on
            if not _raise_successors(best, begun):
                break
        held: Collection[Scored] = best.values()
        if as_of is not None:
            held = held_at(held, challenges.by_target, as_of, self.clock())
        weighed = ((one, _weight(one, begun, now)) for one in held)
        return sort_by_score(
            one if weight == 1.0 else one.with_score(weight * one.score) for one, weight in weighed
        )

    async def _said(
        self, challenges: Challenges, best: Mapping[str, Scored]
    ) -> Mapping[int, frozenset[int]]:
        """The terms of answers that are newer than others, and of these."""
        numbers = {
            best[id].number
            for some in challenges.by_target.values()
            for each in some
            if each.kind is Relation.IS_NEWER
            for id in (each.entry, each.target)
            if id in best
        }
        return await self.reads.terms_of(numbers)

    async def _missing(
        self, best: Mapping[str, Scored], challenges: Challenges, question: Question
    ) -> list[Scored]:
        """Successors that the question did not find, and that are what it asks for.

        When they held is looked at later: a correction holds since what it corrects does.
        """
        asked = replace(question, entry_filter=replace(question.entry_filter, as_of=None))
        some = (each for several in challenges.by_target.values() for each in several)
        wanted = {
            each.entry: each.layer
            for each in some
            if each.kind is not Relation.IS_NEWER and each.entry not in best
        }
        found: list[Scored] = []
        for layer in set(wanted.values()):
            ids = {id for id, own in wanted.items() if own is layer}
            admitted = await self.reads.admitted(ids, layer, asked)
            found += [since(one, challenges.since) for one in admitted.values()]
        return found

    async def changed_sources(
        self, records: Iterable[Record], keys: frozenset[str]
    ) -> Mapping[str, str]:
        """What to say of entries that were verified against a note that is not as it was then.

        Returns:
            It by the entries' ids. A note that is there, but not for the caller, is not mentioned.
        """
        against = {
            each.id: each.verified
            for each in records
            if each.verified is not None and each.verified.version is not None
        }
        if not against:
            return {}
        wanted = {each.against for each in against.values() if each.against}
        notes = await self.notes.read(wanted, keys)
        hidden = await self.notes.read(wanted - notes.keys(), _EVERY_NOTE)
        said: dict[str, str] = {}
        for id, verified in against.items():
            name = verified.against or ""
            if (note := notes.get(name)) is not None and not note.is_as_verified(verified):
                said[id] = "its source has changed since"
            elif note is None and name not in hidden:
                said[id] = "its source is gone"
        return said

    async def of_each(
        self, records: Collection[Record], keys: frozenset[str]
    ) -> dict[str, Standing]:
        """What to say of whether entries hold, by their ids; of most there is nothing to say.

        Args:
            records: entries that the caller may read.
            keys: the caller's; what they may not read makes no mark for them.
        """
        marked = {each.id for each in records if each.challenged}
        by_target: dict[str, list[Challenge]] = {}
        for each in await self.relations.challenging(marked, keys, ()):
            by_target.setdefault(each.target, []).append(each)
        changed = await self.changed_sources(records, keys)
        found = {each.id: self.of(each, Challenges(by_target), changed) for each in records}
        return {id: standing for id, standing in found.items() if standing is not None}

    def of(
        self, record: Record, challenges: Challenges, changed: Mapping[str, str]
    ) -> Standing | None:
        """What to say of whether an entry holds; None where there is nothing to say.

        Args:
            record: the entry.
            challenges: what is at odds with it.
            changed: what to say of entries whose source is not as it was, by their ids.
        """
        if record.owner == NOBODY:
            return record.standing
        now = self.clock()
        by: dict[Relation, list[Challenge]] = {}
        for each in challenges.by_target.get(record.id, ()):
            if has_begun(each, now):
                by.setdefault(each.kind, []).append(each)
        until = record.validity.valid_until
        successors = by.get(Relation.SUPERSEDES, [])
        ends = [each.starts for each in successors]
        ends += [until] if until is not None and until < now else []
        unverified, starts = self._unverified(record, now), record.starts
        later = starts > now
        if not (by or ends or later or record.id in changed) and unverified is None:
            return None  # as of most
        standing = Standing(
            holds=not (ends or later) and Relation.CORRECTS not in by,
            text="",
            superseded_by=[each.entry for each in successors],
            corrected_by=[each.entry for each in by.get(Relation.CORRECTS, [])],
            contested_with=[each.entry for each in by.get(Relation.CONTESTS, [])],
            seems_replaced_by=[each.entry for each in by.get(Relation.SEEMS_TO_REPLACE, [])],
            ended_at=told_end(ends, starts),
            starts_at=starts if later else None,
            unverified_days=unverified,
            source_changed=record.id in changed,
        )
        text = _in_words(standing, changed.get(record.id, ""))
        return standing.model_copy(update={"text": text}) if text else None

    def _unverified(self, record: Record, now: datetime) -> int | None:
        seen = record.looked_at
        return (now - seen).days if seen is not None and now - seen > self.review_age else None


def _in_words(standing: Standing, source: str) -> str:
    """What an answer says of an entry's standing, in a line."""
    said = []
    for name, ids in (
        ("superseded by", standing.superseded_by),
        ("corrected by", standing.corrected_by),
        ("contested with", standing.contested_with),
        ("seems replaced by", standing.seems_replaced_by),
    ):
        if ids:
            said.append(f"{name} {', '.join(ids)}")
    said += times_in_words(standing.ended_at, standing.starts_at, standing.unverified_days)
    if source:
        said.append(source)
    return "; ".join(said)


def _begun(challenges: Challenges, moment: datetime) -> Challenges:
    """The same without what has not begun at a moment."""
    begun = {
        target: [each for each in some if has_begun(each, moment)]
        for target, some in challenges.by_target.items()
    }
    return replace(challenges, by_target=begun)


def _as_good(
    challenges: Challenges,
    best: Mapping[str, Scored],
    said: Mapping[int, frozenset[int]],
    subject: Collection[int],
) -> Challenges:
    """The same without what nobody decided, where the newer does not answer about as well.

    What seems to replace an entry may replace another property of it than the one asked for.

    Args:
        challenges: what is at odds with answers.
        best: the answers.
        said: the terms that each has.
        subject: the terms of what the question is about; a newer one has those of the older.
    """
    none: frozenset[int] = frozenset()
    asked = frozenset(subject)

    def counts(each: Challenge) -> bool:
        newer, older = best.get(each.entry), best.get(each.target)
        if newer is None or older is None:
            return each.kind is not Relation.IS_NEWER
        if each.kind.is_found and newer.alone < AS_GOOD * older.alone:
            return False
        if each.kind is not Relation.IS_NEWER:
            return True
        before, after = said.get(older.number, none), said.get(newer.number, none)
        if not before & asked <= after:
            return False
        return len(before & after) >= SAID_AGAIN * len(before) or _as_near(newer, older)

    kept = {
        target: [each for each in some if counts(each)]
        for target, some in challenges.by_target.items()
    }
    return replace(challenges, by_target=kept)


def _as_near(newer: Scored, older: Scored) -> bool:
    """Whether an entry is about as near to the question as an older one."""
    if newer.cosine is None or older.cosine is None:
        return True  # by words alone their scores are all there is
    return newer.cosine >= older.cosine - AS_NEAR


def _raise_successors(best: dict[str, Scored], challenges: Challenges) -> bool:
    """Let each later entry score at least what the earlier one does; whether anything changed."""
    changed = False
    for target, some in challenges.by_target.items():
        for each in some:
            one, other = best.get(each.entry), best.get(target)
            if each.kind is Relation.CONTESTS or one is None or other is None:
                continue
            if one.score < other.score:
                fits = None if other.fit is None else max(other.fit, one.fit or 0.0)
                best[one.id] = one.with_score(other.score, fit=fits)
                changed = True
    return changed


def _weight(one: Scored, challenges: Challenges, now: datetime) -> float:
    """How much of its score is left to an answer."""
    kinds = {each.kind for each in challenges.by_target.get(one.id, ())}
    if any(kind.ends_the_other for kind in kinds) or not one.validity.holds_at(now, one.written):
        return W_ENDED
    if Relation.SEEMS_TO_REPLACE in kinds:
        return W_DOUBTED
    return W_OLDER if Relation.IS_NEWER in kinds else 1.0
