"""What a conversation says that is worth keeping: decisions, preferences and plain facts.

By rules, for the plain cases, in the speakers' own words: nothing is said in other ones, so that
nothing is made up. What they deny, doubt, report, imagine or quote is left in the turns
(``asserted``, ``own_words``). What a model finds beyond them is ``memory/extraction``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from plugins.knowledge.memory.algorithms.asserted import (
    is_meant,
    is_open,
    mended,
    states,
    takes_back,
)
from plugins.knowledge.memory.algorithms.claims import SELF, US, Claim, claims
from plugins.knowledge.memory.algorithms.foreign import has_english, is_foreign
from plugins.knowledge.memory.algorithms.handovers import handovers
from plugins.knowledge.memory.algorithms.own_words import own_words
from plugins.knowledge.memory.algorithms.proposals import names_something
from plugins.knowledge.memory.algorithms.sentences import sentences, spans
from plugins.knowledge.memory.model.labels import CUE_LABEL, SPEAKER

MAX_CHARACTERS = 400
"""Characters of a sentence; longer ones state many things."""
_DECISION = re.compile(
    r"\bwe(?:'ve| have)? (?:all |then |just )?(?:decided|agreed|voted|settled|chose)\b"
    r"|\bit (?:is|was|has been) (?:decided|agreed)\b"
    r"|^(?:decision(?: on [^:]{1,60})?:|(?:decided|agreed)(?::|,? (?:to|that|on|we)\b))"
    r"|\blet's (?P<does>go with|use|take|meet|do|move|postpone|reschedule|shift|push)\b"
    r"|\bwe(?:'ll| will| are going to) (?:go with|use|meet)\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"(?<=:)\s*(?:it is |is )?(?:still |yet |not yet )*(?:pending|open|none|postponed|deferred"
    r"|delayed|tbd|tbc|due|to be|outstanding|later|unclear|awaiting|needed|n/a|no decision)\b"
    r"|[\s,:]*(?:(?:on|to|to do|upon) )?(?:nothing|neither|not to decide|to disagree)\b",
    re.IGNORECASE,
)
"""What follows the words of a decision where there is none: "Decision: pending"."""
_PREFERENCE = re.compile(
    r"\bI (?:really |always |much |still |now )?(?:prefer|like|love|enjoy|hate|dislike|favou?r)\b"
    r"|\bI (?:can't stand|cannot stand|would rather|'d rather|don't like|do not like)\b"
    r"|\bI'd rather\b|\bmy favou?rite\b"
    r"|\bI(?:'m| am) (?:now |also |not |no longer )?(?:(?:a|an) )?(?:vegan|vegetarian|allergic)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:moved|switched|changed|renamed|replaced|migrated|repainted|raised|lowered|reduced"
    r"|increased|extended|(?:up|down)graded|postponed|rescheduled|tak(?:en|es) over|took over"
    r"|now|as of"
    r"|from (?:now|\w+day|today) on)\b",
    re.IGNORECASE,
)
"""Words by which what was done once says what holds since."""
_OWN = re.compile(r"\b(?:I|my|we|our|me|us)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"^(?:(?:and|but|so|oh|yeah|yes|no|nah|well|also|then|ok(?:ay)?|now|wow|haha|lol|because)\b"
    r"[ ,.!]*)*"
    r"(?:(?:this|that|these|those|it|they|there)"
    r"(?:['\u2019](?:s|re|ll|d|ve)| (?:am|are|have|had|do|did|will|can|could|must|should|\w+s))\b"
    r"|its\b|you\b|let['\u2019]?s\b|don['\u2019]?t\b|do not\b|try\b|make sure\b|remember\b)",
    re.IGNORECASE,
)
"""How a sentence begins that says nothing without the one before it, or what others are to do."""


class Kind(StrEnum):
    """What a sentence of a conversation is."""

    DECISION = "decision"
    PREFERENCE = "preference"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said.

    Attributes:
        speaker: who.
        text: what.
        at: when, where that is known.
    """

    speaker: str
    text: str
    at: datetime | None = None


class FoundBy(NamedTuple):
    """Who found something that no rule did.

    Attributes:
        kind: ``model`` for the portal's own, ``client`` for that of the caller's client, ``agent``
            for an agent that took it as work.
        model: the model, as it calls itself or as the agent states it.
    """

    kind: str
    model: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """Something that was said and is worth keeping.

    Attributes:
        kind: what it is.
        who: who said it.
        what: the sentence, as it was said; a model's own where ``by`` names one.
        when: when it was said, where that is known.
        turn: the number of the turn that it stands in, from 0.
        quote: the words of that turn, where ``what`` is not those.
        by: the model that found it, or None where a rule did.
    """

    kind: Kind
    who: str
    what: str
    when: datetime | None
    turn: int
    quote: str = ""
    by: FoundBy | None = None


class Extractor(Protocol):
    """Finds what is worth keeping in a conversation."""

    async def __call__(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What there is, in its order; every ``what`` stands in its turn word for word."""
        ...


class RuleExtractor:
    """Finds it by the words of sentences, which are English."""

    async def __call__(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What there is, in its order, each sentence once."""
        found: dict[tuple[str, str], Extracted] = {}
        for number, turn in enumerate(turns):
            after = next(iter(turns[number + 1 : number + 2]), None)
            goes_on = after.text if after and after.speaker == turn.speaker else ""
            for sentence, kind in _found(turn, goes_on):
                one = Extracted(kind, turn.speaker, sentence, turn.at, number)
                found.setdefault((turn.speaker, sentence.casefold()), one)
        return list(found.values())


def _found(turn: Turn, goes_on: str) -> Iterator[tuple[str, Kind]]:
    """Sentences of a turn as they were said, each with what it is.

    Args:
        turn: the turn.
        goes_on: what its speaker says next, where nobody else does.
    """
    own = own_words(turn.text)
    other = is_foreign(own)
    said = [own[begin:end] for begin, end in spans(own)]
    following = [*said[1:], next(iter(sentences(own_words(goes_on))), "")]
    for (begin, end), sentence, after in zip(spans(own), said, following, strict=False):
        if len(sentence) > MAX_CHARACTERS or sentence.endswith("?"):
            continue
        if takes_back(after) or _mends(after, sentence, turn.speaker):
            continue
        if other and not has_english(sentence):
            continue
        if (kind := _kind(sentence, turn.speaker)) is not None:
            yield turn.text[begin:end], kind


def _mends(after: str, sentence: str, speaker: str) -> bool:
    """Whether what follows a sentence gives the same in other words: "No, wait, Monday."."""
    if (rest := mended(after)) is None:
        return False
    (new, *_) = (*claims(rest, speaker)[:1], None)
    if new is None or not new.subject:
        return True
    return any(_on_one_thing(new, old) for old in claims(sentence, speaker))


def _on_one_thing(new: Claim, old: Claim) -> bool:
    if new.subject == old.subject and new.verb == old.verb:
        return True
    return bool(new.terms & old.terms - new.voice - {SELF, US})


def _kind(sentence: str, speaker: str) -> Kind | None:
    """What a sentence is, of which only the speaker's own words can be read."""
    if is_foreign(sentence) or is_open(sentence) or _is_of_another(sentence, speaker):
        return None
    decisions = list(_DECISION.finditer(sentence))
    if any(_decides(match) and is_meant(sentence, *match.span()) for match in decisions):
        return Kind.DECISION
    preferences = list(_PREFERENCE.finditer(sentence))
    if any(is_meant(sentence, *match.span()) for match in preferences):
        return Kind.PREFERENCE
    if decisions or preferences:
        return None  # what it says is denied, reported or only talk, whatever it names
    if _POINTS.match(sentence) or not states(sentence):
        return None
    return Kind.FACT if _states_a_fact(sentence, speaker) else None


def _is_of_another(sentence: str, speaker: str) -> bool:
    """Whether it is somebody else's line, in which "I" is not the speaker."""
    line = SPEAKER.match(sentence)
    if line is None or line[1] == speaker or CUE_LABEL.match(line[1]):
        return False
    return _OWN.search(sentence, line.end()) is not None


def _decides(match: re.Match[str]) -> bool:
    """Whether the words of a decision say what was decided."""
    if match["does"] is not None:
        return names_something(match["does"], match.string[match.end() :])
    return _UNDECIDED.match(match.string, match.end()) is None


def _states_a_fact(sentence: str, speaker: str) -> bool:
    """Whether it gives something a value, or another one: a number, a day, a place or a name."""
    rest = mended(sentence)  # "No, wait, it is Monday" says of nothing what it is
    if rest is None and handovers(sentence, speaker):
        return True
    changed = _CHANGED.search(sentence) is not None
    return any(
        claim.subject and claim.values and (changed or (claim.verb and not claim.past))
        for claim in claims(sentence if rest is None else rest, speaker)
    )
