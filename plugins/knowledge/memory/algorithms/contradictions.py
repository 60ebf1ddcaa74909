"""Whether an entry seems to replace an earlier one: it gives the same thing another value.

Rules for the plain cases, which say why. They look for one subject with two values, for a sentence
and its denial, and for words of change about the same thing. What was done once contradicts
nothing, and neither does what is said of another thing, or of another property.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gateway.toolkit.words import terms
from plugins.knowledge.memory.algorithms.claims import SELF, US, Claim, claims
from plugins.knowledge.memory.algorithms.foreign import is_foreign
from plugins.knowledge.memory.algorithms.foreign_changes import change_in_words
from plugins.knowledge.memory.algorithms.handovers import handovers
from plugins.knowledge.memory.algorithms.topics import PLAIN_VERBS, on_one_topic, topic
from plugins.knowledge.memory.algorithms.vocabulary import (
    ATTRIBUTE_VERBS,
    OPPOSITES,
    RELATIVES,
    ROLES,
    UNITS,
)
from plugins.knowledge.memory.model.record import Record

MIN_COSINE = 0.4
"""Below it, two texts are about something else, whatever words they share."""
SAME_TOPIC = 0.6
"""The cosine from which on two texts about one thing say the same of it in other words."""
SAME_WORDING = 0.7
"""The cosine from which on they say it in nearly the same words."""
SAME_PROPERTY = 0.65
"""The cosine from which on two things that a speaker says of themselves may be one property."""
MIN_WORDED = 0.5
"""The same where one of them names the property, and the other has a verb for it."""
MAX_TERMS = 12
"""Terms of a sentence up to which it is a plain case: a longer one states several things."""
SAME_TERMS = 0.5
"""The share of their terms from which on two versions of an entry say the same."""
NEWER_FIRST = 0.42
"""The cosine from which on of two entries about one thing the newer goes first, unmarked."""
HANDED_OVER = "it says that this is over"
"""Why an entry seems replaced that a later one names as what has gone."""
_NAMED_BY_PROPERTY = frozenset(ATTRIBUTE_VERBS.values())
_ONE_VALUED = frozenset({"live", "work", "marry"})
"""Verbs of which somebody has one object at a time."""

_QUANTITIES = frozenset({"number", "day", "month", "frequency"})
"""Kinds of values that one thing has several of, each of something: "10 euros for adults"."""
_LIKE_NAMES = frozenset({"name", "place"})
"""Kinds of values that call something by its name."""
_LIKE = {"place": "name", "month": "number", "day": "number"}
"""Kinds of values that stand for each other: "on Monday" becomes "on the 4th"."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a new entry compares with an earlier one.

    Attributes:
        replaces: whether it seems to replace it.
        cosine: how near they are; 0 where one has no vector.
        why: what makes it seem so.
        one_thing: whether both are about one thing, and near: then the newer one goes first.
        reversed: whether the new entry speaks of an earlier time than the one before it: an
            import, or a word of how it was. Then that one replaces it.
    """

    replaces: bool
    cosine: float
    why: str = ""
    one_thing: bool = False
    reversed: bool = False


def compare(new: Record, old: Record, cosine: float | None) -> Likeness:
    """Compare two entries.

    Args:
        new: the later one.
        old: the earlier one.
        cosine: of their vectors, or None where one has none.
    """
    if cosine is not None and cosine < MIN_COSINE:
        return Likeness(False, cosine)
    one_voice, one_thing = new.owner == old.owner, False
    is_near = (cosine or 0.0) >= NEWER_FIRST
    before = claims(old.content, old.metadata.author or "")
    foreign = is_foreign(new.content) and is_foreign(old.content)
    if any(
        each.ends(other, 1.0 if cosine is None else cosine)
        for each in handovers(new.content, new.metadata.author or "")
        for other in before
        if one_voice or SELF not in other.subject | each.gone
    ):
        return Likeness(True, cosine or 0.0, HANDED_OVER, reversed=speaks_of_earlier(new, old))
    for one in claims(new.content, new.metadata.author or ""):
        for other in before:
            if SELF in one.subject | other.subject and not one_voice:
                continue
            # Most sentences have no word in common, and nobody says them of themselves.
            may_be_one = (one.voice and other.voice) or not one.terms.isdisjoint(other.terms)
            if may_be_one and (why := contradiction(one, other, cosine)):
                return Likeness(True, cosine or 0.0, why, reversed=speaks_of_earlier(new, old))
            if is_near and not one_thing:
                same = one.voice == other.voice and not _apart(one, other)
                one_thing = same and (foreign or on_one_topic(one, other))
    one_thing = one_thing and (not foreign or _share_half(new.content, old.content))
    why = change_in_words(new.content, old.content, cosine, one_owner=one_voice)
    return Likeness(bool(why), cosine or 0.0, why, one_thing, speaks_of_earlier(new, old))


def _share_half(new: str, old: str) -> bool:
    """Whether two texts, neither of them English, share half of their words.

    A model for English finds all texts of another language near, and the rules read none.
    """
    one, other = set(terms(new)), set(terms(old))
    return 2 * len(one & other) >= min(len(one), len(other))


def speaks_of_earlier(new: Record, old: Record) -> bool:
    """Whether a new entry is about a time before that of an entry that was kept before it.

    Args:
        new: the one that is written now.
        old: the other one.
    """
    mine, theirs = (each.validity.valid_from or each.validity.event_at for each in (new, old))
    if mine is not None and theirs is not None and mine != theirs:
        return mine < theirs
    if new.taken_from is not None and new.taken_from < (old.taken_from or old.number):
        return True  # what is found in a turn was said before what follows that turn
    ended = new.validity.valid_until
    return new.changed < old.changed or (ended is not None and ended <= old.created)


def still_says(new: Record, old: Record) -> bool:
    """Whether a version of an entry claims what the one before it did, in other words at most.

    Args:
        new: the entry as it is to be.
        old: the entry as it was.
    """
    if compare(new, old, None).replaces:
        return False
    return _share(terms(new.content), terms(old.content)) >= SAME_TERMS


def contradiction(new: Claim, old: Claim, cosine: float | None) -> str:
    """Why a claim seems to replace an earlier one; "" where it does not.

    Args:
        new: the later claim.
        old: the earlier one.
        cosine: of the texts they stand in, or None where that is not known.
    """
    near = 1.0 if cosine is None else cosine
    if not _comparable(new, old) or not _one_thing(new, old, near):
        return ""
    come, gone = new.said - old.terms, old.said - new.terms
    if new.negated != old.negated and _denies(new, old):
        return "one says what the other denies"
    if _opposite(come, gone) or (_outdone(new, old) and _outdone(old, new)):
        return "they say opposite things"
    if (_one_role(new, old) or _is_done_by_another(new, old)) and new.subject != old.subject:
        return "the role has another holder"
    is_over = new.past and not (new.cue or new.again)
    if not (come or gone) or is_over or _both_hold(new, old):
        return ""
    if _other_values(new, old, near):
        return "the same thing has another value"
    if new.cue and _changed(new, old, near):
        return "it says that something changed"
    return ""


def _comparable(new: Claim, old: Claim) -> bool:
    """Whether both are plain cases, of one time; in talk also by one voice and on one topic."""
    if max(len(new.terms), len(old.terms)) > MAX_TERMS or _of_two_times(new, old):
        return False
    return not _is_talk(new, old) or (new.voice == old.voice and on_one_topic(new, old))


def _is_talk(new: Claim, old: Claim) -> bool:
    """Whether both are said in conversations, where many sentences are about little."""
    return bool(new.voice and old.voice)


def _of_two_times(new: Claim, old: Claim) -> bool:
    """Whether one announces what is to come, and the other says how it is now: both hold."""
    return old.coming and new.present and not new.negated


def _apart(new: Claim, old: Claim) -> bool:
    """Whether each has a word of its own for what it is about, or for a property of it."""
    if _of_two_times(new, old) or _count_apart(new, old) or _other_kinds(new, old):
        return True
    own, other = new.subject - old.terms - {US}, old.subject - new.terms - {US}
    # Of two people who are said to do one thing the later one may have taken it over.
    return bool(own and other and not new.said & old.said) or _other_property(new, old)


def _one_thing(new: Claim, old: Claim, near: float) -> bool:
    """Whether both are about the same property of the same thing.

    They are not where each has a word of its own for what it is about, nor is what it is not the
    value that it has.
    """
    if new.attribute and old.attribute and _other_property(new, old):
        return False
    if _count_apart(new, old) or _denies_another_value(new, old):
        return False
    if new.lead and old.lead and not new.lead & old.lead and not new.cue:
        return False
    if bool(new.attribute) != bool(old.attribute) and not _may_name_it(new, old):
        return False
    own, other = new.subject - old.terms - {US}, old.subject - new.terms - {US}
    if own and other:
        return _one_role(new, old) or _is_done_by_another(new, old)
    if _may_be_of_another_name(new, old) or _may_be_of_another_name(old, new):
        return False
    if own or other:
        alike = {term for term, _ in new.values & old.values}
        shared = (new.terms & old.terms) - {SELF, US} - new.voice - alike
        return len(shared) >= 2 or bool(shared & new.subject & old.subject)
    mine, theirs = new.subject | new.attribute, old.subject | old.attribute
    shared = (mine & old.terms | theirs & new.terms) - new.voice
    return bool(shared) or _of_the_speaker(new, old, near)


def _may_name_it(new: Claim, old: Claim) -> bool:
    """Whether a property that only one of them names may be what the other one says."""
    if not RELATIVES.isdisjoint(new.attribute | old.attribute):
        return False
    return not {"be", *_NAMED_BY_PROPERTY}.isdisjoint({new.verb, old.verb})


def _may_be_of_another_name(full: Claim, short: Claim) -> bool:
    """Whether one names somebody by two names, and the other by the first alone.

    Several people may have that name: "Ana prefers mate" is not sure to be said of Ana Meyer.
    """
    more, shared = full.subject - short.subject, full.subject & short.subject
    return bool(more and shared) and more <= full.surnames and shared <= full.names & short.names


def _of_the_speaker(new: Claim, old: Claim, near: float) -> bool:
    """Whether a speaker says of themselves twice what seems to be one property: where they live.

    Everybody says many things of themselves, so who it is about is not enough: it takes the same
    verb, values of one kind, and texts that are near.
    """
    own = bool(new.voice) and new.subject == old.subject == new.voice == old.voice
    alike = bool(new.verb) and new.verb == old.verb and not _other_kinds(new, old)
    return own and alike and near >= SAME_PROPERTY


def _other_property(new: Claim, old: Claim) -> bool:
    """Whether each names a property, and a word of it that the other has not: "opening time"."""
    return all((new.attribute - old.terms, old.attribute - new.terms))


def _other_kinds(new: Claim, old: Claim) -> bool:
    """Whether each has values of its own, and none is of a kind of the other's: a day, a name."""
    one = {_LIKE.get(kind, kind) for term, kind in new.values if term not in old.terms}
    other = {_LIKE.get(kind, kind) for term, kind in old.values if term not in new.terms}
    return bool(one and other) and one.isdisjoint(other)


def _count_apart(new: Claim, old: Claim) -> bool:
    """Whether both count something, and each something else."""
    return bool(new.counted and old.counted) and not new.counted & old.counted


def _one_role(new: Claim, old: Claim) -> bool:
    """Whether two people are said to hold one role: "Ana is the treasurer of the club"."""
    roles = new.said & old.said & ROLES
    return bool(roles) and new.verb == old.verb == "be" and new.said == old.said


def _is_done_by_another(new: Claim, old: Claim) -> bool:
    """Whether somebody is said to do from now on what another did: "Jo does the books now"."""
    is_task = new.verb == old.verb and new.verb in ("", "run")
    return is_task and new.cue and bool(new.said) and new.said == old.said and bool(old.names)


def _denies(new: Claim, old: Claim) -> bool:
    """Whether one says what the other says, apart from the word "not"."""
    if _is_talk(new, old) and not (new.cue or (new.verb and new.verb == old.verb)):
        return False
    one, other = new.said - {"not"}, old.said - {"not"}
    shared = len(one & other)
    return bool(shared) and shared >= 0.6 * min(len(one), len(other)) and _share(one, other) >= 0.4


def _denies_another_value(new: Claim, old: Claim) -> bool:
    """Whether one denies a value, and the other states another one: "not Friday", "Thursday".

    What says with words of change what it is not may say as well what it is.
    """
    if new.denied == old.denied or not _contested(new, old):
        return False
    return not (new.cue and len(new.values) > 1)


def _both_hold(new: Claim, old: Claim) -> bool:
    """Whether one is said to be so too, or each says for whom or when: "adults", "children".

    What was paid for a thing is not what it was sold for.
    """
    if new.adds or (old.adds and not new.cue) or {new.verb, old.verb} == {"buy", "sell"}:
        return True
    kinds = _contested(new, old)
    if new.verb == old.verb == "run" and "number" in kinds and not kinds.isdisjoint(_LIKE_NAMES):
        return True  # of what runs each has a version
    return not new.cue and _told_apart(new, old)


def _told_apart(new: Claim, old: Claim) -> bool:
    """Whether each has a word of its own beside the quantity that it gives."""
    kinds = _contested(new, old)
    if kinds.isdisjoint(_QUANTITIES):
        return False
    return bool(_beside(new, old, kinds) and _beside(old, new, kinds))


def _beside(one: Claim, other: Claim, kinds: Collection[str]) -> Collection[str]:
    """The words of a claim beside its values of some kinds, which the other one has not."""
    dates = {"month"} if "number" in kinds else set()
    values = {term for term, kind in one.values if kind in dates.union(kinds)}
    own = one.said - other.terms - values - UNITS
    return [each for each in own if not each[0].isdigit()]


def _contested(new: Claim, old: Claim) -> set[str]:
    """The kinds of which each has a value that the other has not."""
    come = {kind for term, kind in new.values - old.values if term not in old.terms}
    return come & {kind for term, kind in old.values - new.values if term not in new.terms}


def _other_values(new: Claim, old: Claim, near: float) -> bool:
    """Whether they give one property different values of one kind."""
    if not (new.verb and old.verb):
        return False
    kinds = _contested(new, old)
    same_verb = new.verb == old.verb
    named = bool(new.attribute & old.attribute)
    if kinds - _LIKE_NAMES:
        unlike = not same_verb and {"", "be"}.isdisjoint({new.verb, old.verb})
        return (same_verb or named or near >= SAME_TOPIC) and not unlike
    differs = bool(new.said - old.said) and bool(old.said - new.said)
    if new.verb == old.verb == "be" and _one_word_each(new, old) and near >= SAME_WORDING:
        return True
    if same_verb and differs and (new.verb in _ONE_VALUED or named):
        return True
    if kinds and bool(new.attribute) != bool(old.attribute) and near >= MIN_WORDED:
        return "be" in (new.verb, old.verb) or same_verb
    return bool(kinds) and same_verb and near >= SAME_TOPIC and new.verb not in ("", "want", "have")


def _one_word_each(new: Claim, old: Claim) -> bool:
    """Whether a thing with a name of two words and more is said to be one thing, and another."""
    if len(new.subject) < 2 or new.subject != old.subject:
        return False
    return 1 <= len(new.said - old.said) <= 2 and 1 <= len(old.said - new.said) <= 2


def _changed(new: Claim, old: Claim, near: float) -> bool:
    """Whether words of change are about what the earlier claim says, and not only of who.

    What was done once stays so, whatever changes after it.
    """
    if not new.said or (old.past and not old.verb):
        return False
    kinds = {kind for _, kind in new.values} & {kind for _, kind in old.values}
    shared = topic(new, old)
    # Of themselves people say many things by one verb, and of many times and places.
    is_of_one = bool(shared or not new.voice)
    plain = ("", "have") if is_of_one else PLAIN_VERBS
    alike = new.verb == old.verb and new.verb not in plain
    of_kind = is_of_one and not kinds.isdisjoint(("place", "number", "day"))
    told_again = len(shared) >= 2 and near >= SAME_PROPERTY
    return told_again or ((alike or of_kind) and near >= MIN_WORDED)


def _opposite(come: Collection[str], gone: Collection[str]) -> bool:
    return any(pair & set(come) and pair & set(gone) for pair in OPPOSITES)


def _outdone(new: Claim, old: Claim) -> bool:
    """Whether one prefers something to what the other one prefers."""
    return not new.outdone.isdisjoint(old.said - old.outdone)


def _share(some: Collection[str], others: Collection[str]) -> float:
    one, other = set(some), set(others)
    return len(one & other) / len(one | other) if one | other else 1.0
