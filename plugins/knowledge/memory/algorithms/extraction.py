"""What a conversation says that is worth keeping: decisions, preferences and plain facts.

By rules, for the plain cases, in the speakers' own words: nothing is said in other ones, so that
nothing is made up. What a model finds beyond them is ``memory/extraction``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from plugins.knowledge.memory.algorithms.claims import claims

MAX_CHARACTERS = 400
"""Characters of a sentence; longer ones state many things."""
_SENTENCE = re.compile(r"(?<=[.!?;\n])\s+|\n+")
_DECISION = re.compile(
    r"\bwe(?:'ve| have)? (?:all |then |just )?(?:decided|agreed|voted|settled|chose)\b"
    r"|\bit (?:is|was|has been) (?:decided|agreed)\b|^(?:decision|decided|agreed)\b"
    r"|\blet's (?:go with|use|take|meet|do)\b"
    r"|\bwe(?:'ll| will| are going to) (?:go with|use|meet)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\bI (?:really |always |much |still |now )?(?:prefer|like|love|enjoy|hate|dislike|favou?r)\b"
    r"|\bI (?:can't stand|cannot stand|would rather|'d rather|don't like|do not like)\b"
    r"|\bmy favou?rite\b|\bI(?:'m| am) (?:vegan|vegetarian|allergic)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|might|I guess|not sure|if|would be nice)\b", re.I)


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
    """Finds it by the words of sentences."""

    async def __call__(self, turns: Sequence[Turn]) -> Sequence[Extracted]:
        """What there is, in its order, each sentence once."""
        found: dict[tuple[str, str], Extracted] = {}
        for number, turn in enumerate(turns):
            for sentence in _sentences(turn.text):
                if (kind := _kind(sentence, turn.speaker)) is not None:
                    one = Extracted(kind, turn.speaker, sentence, turn.at, number)
                    found.setdefault((turn.speaker, sentence.casefold()), one)
        return list(found.values())


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        said = sentence.strip()
        if said and len(said) <= MAX_CHARACTERS and not said.endswith("?"):
            yield said


def _kind(sentence: str, speaker: str) -> Kind | None:
    if _UNSURE.search(sentence):
        return None
    if _DECISION.search(sentence):
        return Kind.DECISION
    if _PREFERENCE.search(sentence):
        return Kind.PREFERENCE
    return Kind.FACT if _states_a_fact(sentence, speaker) else None


def _states_a_fact(sentence: str, speaker: str) -> bool:
    """Whether it gives something a value: a number, a day, a place or a name."""
    return any(
        claim.subject and claim.verb and claim.values and not claim.past
        for claim in claims(sentence, speaker)
    )
