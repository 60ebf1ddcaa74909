"""What a sentence says to have gone, in its own words: "Priya took over the newsletter from Ben".

Such a sentence names what held before, so an earlier entry is known by that name, and by one more
word that both have: of the newsletter Ben holds no more, and of all else that is said of him it
says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from gateway.toolkit.words import stem
from plugins.knowledge.memory.algorithms.claims import SELF, US, Claim, terms_of, turn_of
from plugins.knowledge.memory.algorithms.sentences import sentences
from plugins.knowledge.memory.algorithms.vocabulary import UNITS

MAX_SENTENCES = 6
"""Sentences of a text that are looked at."""
NEAR = 0.6
"""The cosine from which on "we" say two things of one matter, whatever words they share."""
_SOME = r"(?:[^.,:;!?]|[.,](?=\w)){1,60}?"
_ENDS = r"(?=\s*(?:[.,:;!?]|$|\b(?:for|in|on|at|as|since|because|to|and|over|this|last)\b))"
_GONE = rf"(?P<gone>{_SOME})"
_TOPIC = rf"(?P<topic>{_SOME})"
_HAS = r"(?:has |have |had )?"
_IS = r"(?:(?:was|were|is|are|got|has been|have been) )"
_DROPPED = r"(?:dropped|cancel+ed|scrapped|abandoned|ditched|discontinued)"
_PATTERNS = tuple(
    re.compile(each, re.IGNORECASE)
    for each in (
        rf"\b(?:took|takes?|taken|taking) over {_TOPIC} from {_GONE}{_ENDS}",
        rf"^{_GONE} {_HAS}hand(?:ed|s) (?:over {_TOPIC}|(?P<topic2>{_SOME}) over)(?= to\b|[.,;]|$)",
        rf"^{_GONE} (?:was|were|is|has been|got) (?:replaced|succeeded) as {_TOPIC} by\b",
        rf"^{_GONE} (?:was|were|is|has been|got) (?:replaced|succeeded) by .{{2,40}}? "
        rf"(?:as|for) {_TOPIC}(?=[.,;!]|$)",
        rf"\b(?:replaces|replaced|succeeds|succeeded) (?!by\b){_GONE} as {_TOPIC}(?=[.,;!]|$)",
        rf"^{_GONE} {_HAS}(?:step(?:ped|s) down|resign(?:ed|s)|retire[ds]|quit) as {_TOPIC}"
        r"(?=[.,;!]|$)",
        rf"\b(?:instead of|in place of|rather than) {_GONE}{_ENDS}",
        r"\b(?:mov|migrat|switch|chang|upgrad|rais|lower|reduc|increase|extend|went|cut|transfer"
        r"|convert|relocat|rewritten|ported|porting)\w*"
        rf" (?:\w+ ){{0,4}}?from {_GONE} to\b",
        rf"\bno more {_TOPIC} (?:on|in|at) {_GONE}(?=[.,;!]|$)",
        rf"\b(?:is|are|was|were) not (?:the |an? )?{_GONE} (?:in the end|but)\b",
        rf"^(?:we|I) {_HAS}{_DROPPED} {_GONE}(?=[:;,])",
        rf"^{_GONE} {_IS}{_DROPPED}(?=[:;,])",
        rf"^{_GONE} (?:no longer|(?:does|do|will) not|(?:does|do|wo)n't) (?:\w+ ){{1,2}}?"
        rf"{_TOPIC}(?: any ?more)?, (?:\w+ ){{1,3}}(?:does|do|will|is|are)(?=[.,;!]|$)",
        rf"\b(?:fill|stand|step)(?:s|ed|ing)? in for {_GONE} (?:at|in|on|as) {_TOPIC}(?=[.,;!]|$)",
        rf"^{_GONE} of {_TOPIC} (?:was|were|is|are|proved|turned out) (?:far )?too "
        r"(?:much|many|little|few|high|low|big|small|long|short|late|early)\b",
    )
)
_SAYS_NOTHING = frozenset(map(stem, ("decided", "agreed", "go", "use", "run", "end")))
"""Terms of which it tells nothing that two entries have them."""


@dataclass(frozen=True, slots=True)
class Handover:
    """What a sentence says to have gone.

    Attributes:
        gone: the terms of what held before.
        topic: the terms of that in which it did, where they are said.
        beside: the other terms of the sentence.
    """

    gone: frozenset[str]
    topic: frozenset[str]
    beside: frozenset[str]

    def ends(self, old: Claim, near: float) -> bool:
        """Whether an earlier claim says what has gone.

        Args:
            old: the earlier claim.
            near: the cosine of the texts.
        """
        if old.negated or not self.gone <= old.terms:
            return False
        shared = (old.terms | {old.verb}) - self.gone - {SELF, US, ""} - _SAYS_NOTHING
        if self.topic:
            return bool(self.topic & shared)
        if near < NEAR and all(each[0].isdigit() for each in self.gone):
            return False  # a number may be of anything
        own = US in old.subject and US in self.beside and near >= NEAR
        return bool(self.beside & shared - UNITS) or own


@lru_cache(maxsize=2_000)
def handovers(text: str, speaker: str = "") -> tuple[Handover, ...]:
    """What a text says to have gone, sentence by sentence; of most there is nothing.

    Args:
        text: an entry.
        speaker: who says "I" in it, where the text does not begin with their name.
    """
    speaker, said = turn_of(text, speaker)
    own = frozenset(map(stem, speaker.lower().split()))
    some = sentences(said)[:MAX_SENTENCES]
    return tuple(
        one
        for each, after in zip_longest(some, some[1:], fillvalue="")
        if not each.endswith("?")
        for one in _of(each, after if each.endswith(";") else "", own)
    )


def _of(sentence: str, after: str, speaker: frozenset[str]) -> Iterable[Handover]:
    """What a sentence says to have gone; ``after`` is what it goes on with behind a semicolon."""
    for pattern in _PATTERNS:
        if (match := pattern.search(sentence)) is None:
            continue
        said = match.groupdict()
        gone = terms_of(said["gone"], speaker)
        topic = terms_of(said.get("topic") or said.get("topic2") or "", speaker)
        if gone:
            yield Handover(gone, topic, terms_of(f"{sentence} {after}", speaker) - gone)
