"""What a sentence claims, as far as its words tell: of what, by which verb, and with what value.

No grammar is parsed. What stands before the first known verb is what the sentence is about, and
what follows is what it says of that. It is enough to see that two sentences give one thing two
values, and is made for short entries in English; what it cannot read it leaves alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from gateway.toolkit.words import STOP_WORDS, stem
from plugins.knowledge.memory.algorithms import vocabulary as known
from plugins.knowledge.memory.algorithms.plain_values import also_said, plain, with_plain_halves
from plugins.knowledge.memory.algorithms.sentences import sentences
from plugins.knowledge.memory.algorithms.tense import is_coming, is_present
from plugins.knowledge.memory.model.labels import CUE_LABEL, DATED, NAME

MAX_CLAIMS = 6
"""Sentences of a text that are looked at."""
MAX_VALUE = 6
"""Words of a value behind a colon; what is longer is said by somebody."""
SELF, US = "@self", "@us"
"""Whoever says "I", and "we"."""

_TOKEN = re.compile(
    r"\d+(?:[.:,/-]\d+)*(?:st|[nr]d|th|am|pm|h|€|%)?|[^\W\d_]+(?:['\u2019-][^\W_]+)*"
)
_TURN = re.compile(rf"{DATED}({NAME}|@?[a-z][\w.'-]{{0,30}}):\s+")
"""Who speaks: what stands before a colon may be any word, as what follows tells whether it does."""
_LABEL = re.compile(r"^([^:.!?\n]{3,60}):\s+(\S.*)$")
_BY_SOMEBODY = re.compile(r"\brun by (?=[A-Z])")
_MAY = "May"
"""The month; in lower case it is no month."""
_PERSONS = {"i": SELF, "my": SELF, "me": SELF, "mine": SELF, "we": US, "our": US, "us": US}


@dataclass(frozen=True)
class Claim:
    """What a sentence claims.

    Attributes:
        subject: the terms of what it is about.
        lead: the terms of when or where, where it begins with that: "In summer the café ...".
        attribute: the terms of the property, where it names one: "the code of the gate".
        verb: the group of its verb, or "" where none is known.
        said: the terms of what it says.
        counted: the terms in ``said`` of what a number counts: "three plots".
        values: the terms in ``said`` that are a day, a number or a name, each with that kind.
        negated: whether it says that it is not so.
        cue: whether its words say that something has changed.
        past: whether it tells of what was done once.
        outdone: the terms in ``said`` of what something is preferred to.
        again: whether that may be done again and again: "is watered at six".
        voice: the terms of who says it, where that is known.
        denied: whether it is its verb that is negated: "is not Friday", and no limit is set so.
        adds: whether it says that something is so too.
        names: the terms of its subject that have capitals.
        surnames: of these the ones behind another: "Meyer" of "Ana Meyer".
        coming: whether it announces something.
        present: whether it says how it is now, and of no change.
    """

    subject: frozenset[str]
    lead: frozenset[str]
    attribute: frozenset[str]
    verb: str
    said: frozenset[str]
    values: frozenset[tuple[str, str]]
    negated: bool
    cue: bool
    past: bool
    voice: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    denied: bool = False
    adds: bool = False
    names: frozenset[str] = frozenset()
    surnames: frozenset[str] = frozenset()
    coming: bool = False
    present: bool = False
    again: bool = False
    outdone: frozenset[str] = frozenset()

    @cached_property
    def terms(self) -> frozenset[str]:
        """All terms; each is compared with those of dozens of others."""
        return self.subject | self.attribute | self.said


@lru_cache(maxsize=2_000)
def claims(text: str, speaker: str = "") -> tuple[Claim, ...]:
    """What a text claims, sentence by sentence; questions claim nothing.

    Args:
        text: an entry.
        speaker: who says "I" in it, where the text does not begin with their name.
    """
    speaker, text = turn_of(text, speaker)
    own = frozenset(map(stem, speaker.lower().split()))
    made = (_claim(each, own) for each in _sentences(text)[:MAX_CLAIMS])
    return tuple(each for each in made if each.said or each.subject)


def turn_of(text: str, speaker: str = "") -> tuple[str, str]:
    """Who says a text, and what they say: "Ana: it rains" is said by Ana.

    Args:
        text: an entry.
        speaker: who says it where it does not begin with a name.
    """
    text = text.strip()
    match = _TURN.match(text)
    if match and CUE_LABEL.match(match[1]):
        match = None  # "Correction: ..." is said by nobody of that name
    if match and not _is_value(match[1], text[match.end() :]):
        return match[1], text[match.end() :]
    return speaker, text


def _is_value(label: str, text: str) -> bool:
    """Whether what stands behind a name and a colon is its value, and nothing that somebody says.

    "Deadline: Friday" is one, and "Treasurer: Ana"; "Ana: Thanks" and "Ana: Good morning" are not.
    """
    tokens = _tokens(text)
    if not tokens or len(tokens) > MAX_VALUE or _verb_at(tokens) is not None:
        return False
    if _is_talk(tokens):
        return False
    if not known.LABELS.isdisjoint(stem(each.lower()) for each in _tokens(label)):
        return True
    first = next((each for each in tokens if each.lower() not in known.PREPOSITIONS), "-")
    return first[0].isdigit() or stem(first.lower()) in known.KINDS


def _is_talk(tokens: Iterable[str]) -> bool:
    """Whether words are what people say to each other, as no value is: "yeah", "you", "thanks"."""
    return any(each.lower() in known.TALK or each.lower() in _PERSONS for each in tokens)


def terms_of(text: str, speaker: frozenset[str]) -> frozenset[str]:
    """The terms of some words.

    Args:
        text: the words.
        speaker: the terms of who says "I" among them.
    """
    return frozenset(_terms(_tokens(text), speaker))


def _sentences(text: str) -> list[str]:
    """Sentences that claim something; "we decided: it is so" is two of them."""
    found: list[str] = []
    for sentence in sentences(text):
        if sentence.rstrip().endswith("?"):
            continue
        label = _LABEL.match(sentence)
        if label and (_verb_at(words := _tokens(label[1])) is not None or _is_past(words)):
            found += [label[1], label[2]]
        else:
            found.append(sentence)
    return found


def _tokens(text: str) -> list[str]:
    """The words and values of a text, each value in one form."""
    return plain(_TOKEN.findall(with_plain_halves(text.replace("\u2019", "'"))))


def _claim(sentence: str, speaker: frozenset[str]) -> Claim:
    tokens = _tokens(sentence)
    label = _LABEL.match(sentence)
    at, after = _verb_at(tokens), 1
    verb = "" if at is None else _verb(tokens, at)
    if verb == "run" and _BY_SOMEBODY.search(sentence):
        verb = "led"  # which says nothing of how often it runs
    if verb == "be":
        named = (known.ATTRIBUTE_VERBS.get(each.lower()) for each in tokens[:at])
        verb = next(filter(None, named), verb)
    if label and _is_lone(label[1]) and not _is_talk(_tokens(label[2])):
        at, verb, after = len(_tokens(label[1])), "be", 0
    elif at is None:
        at, after = 0, 0
    lead, before = _split_lead(tokens[:at])
    behind = tokens[at + after :]
    attribute, subject = _parts(before)
    lowered = [each.lower() for each in tokens]
    return Claim(
        subject=frozenset((*_terms(subject, speaker), *_directions(subject))),
        lead=frozenset(_terms(lead, speaker)),
        attribute=frozenset(_terms(attribute, speaker)),
        verb=verb,
        said=frozenset((*_terms(behind, speaker), *_state(tokens, at, verb), *also_said(behind))),
        values=frozenset(_values(behind, begins=at + after == 0)),
        negated=any(each in known.NEGATIONS or each.endswith("n't") for each in lowered),
        cue=known.CUE.search(sentence) is not None,
        past=_is_past(lowered),
        voice=speaker,
        counted=frozenset(_counted(behind)),
        denied=_is_denied(lowered, at),
        adds="also" in lowered[1:] or lowered[-1:] == ["too"],
        names=frozenset(_terms(filter(_is_name, subject), frozenset())),
        surnames=frozenset(_terms(_surnames(subject), frozenset())),
        coming=is_coming(sentence),
        present=is_present(sentence),
        again=_is_again(lowered),
        outdone=frozenset(_terms(_outdone(behind), speaker) if verb == "want" else ()),
    )


def _outdone(tokens: Sequence[str]) -> Sequence[str]:
    """What something is preferred to: "coffee" of "tea to coffee"."""
    at = next((at for at, each in enumerate(tokens) if at and each in ("to", "over", "than")), None)
    return () if at is None else tokens[at + 1 :]


def _counted(tokens: Sequence[str]) -> Iterable[str]:
    """What numbers count, which tells the three plots from the five guests; of units of one
    dimension it is the same: 30 seconds are replaced by 2 minutes.
    """
    for number, token in pairwise(tokens):
        term = stem(token.lower())
        is_number = number.isdigit() or known.KINDS.get(stem(number.lower())) == "number"
        plain = token.islower() and token not in STOP_WORDS and token not in known.VERBS
        if is_number and (dimension := known.DIMENSIONS.get(token.lower())):
            yield dimension
        elif is_number and plain and term not in known.KINDS and token not in known.PREPOSITIONS:
            yield term


def _is_denied(tokens: Sequence[str], at: int) -> bool:
    """Whether a sentence denies what its verb says; "not before 9" says when."""
    if at >= len(tokens) or not known.LIMITS.isdisjoint(tokens[at:]):
        return False
    is_short = tokens[at].endswith("n't") or tokens[at] == "cannot"
    return is_short or tokens[at + 1 : at + 2] in (["not"], ["never"])


def _is_name(token: str) -> bool:
    """Whether a word of a subject has a capital, and is none that begins sentences."""
    lowered = token.lower()
    return token[0].isupper() and lowered not in STOP_WORDS and lowered not in _PERSONS


def _surnames(tokens: Sequence[str]) -> Iterable[str]:
    return (after for name, after in pairwise(tokens) if _is_name(name) and _is_name(after))


def _is_past(tokens: Sequence[str]) -> bool:
    """Whether somebody did something once."""
    return any(
        each in known.PAST or (each.endswith("ed") and len(each) > 4 and stem(each) != each)
        for each in tokens
    )


def _is_again(tokens: Sequence[str]) -> bool:
    """Whether it is said what is done, and of nothing else what was done once."""
    done = any(be in ("is", "are") and each.endswith("ed") for be, each in pairwise(tokens))
    return done and known.PAST.isdisjoint(tokens)


def _is_lone(label: str) -> bool:
    """Whether what stands before a colon is a thing, as in "Opening time: nine"."""
    return _verb_at(_tokens(label)) is None and CUE_LABEL.search(label) is None


def _verb_at(tokens: Sequence[str]) -> int | None:
    for at, token in enumerate(tokens):
        lowered = token.lower()
        if lowered in ("may", "will") and (not at or token[0].isupper()):
            continue  # a month and a man; at the beginning too, more often than not
        if not at and lowered == "changes":
            continue  # the thing: "Changes need three approvals"
        if lowered in known.VERBS or lowered in known.AUXILIARIES or lowered.endswith("n't"):
            return at
    return None


def _verb(tokens: Sequence[str], at: int) -> str:
    """The group of a verb, looked for behind its auxiliaries."""
    for token in tokens[at : at + 5]:
        group = known.VERBS.get(token.lower())
        is_state = group in ("be", "open", "close") and known.VERBS.get(tokens[at].lower()) == "be"
        if group not in (None, "be") and token.lower() not in known.AUXILIARIES and not is_state:
            return str(group)
    groups = [known.VERBS.get(each.lower()) for each in tokens[at : at + 2]]
    return next(filter(None, groups), "")


def _split_lead(tokens: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """When or where, and the rest: "From October on" and "the library"."""
    if not tokens or tokens[0].lower() not in known.PREPOSITIONS:
        return (), tokens
    for at, token in enumerate(tokens):
        if token.lower() not in STOP_WORDS and token.lower() not in known.PREPOSITIONS:
            rest = tokens[at + 1 :]
            rest = rest[1:] if rest and rest[0].lower() == "on" else rest
            return (tokens[: at + 1], rest) if rest else ((), tokens)
    return (), tokens


def _directions(tokens: Sequence[str]) -> Iterable[str]:
    """Words of direction, which tell the bus to the farm from the one that comes from there."""
    return (f"@{each.lower()}" for each in tokens if each.lower() in ("from", "to"))


def _state(tokens: Sequence[str], at: int, verb: str) -> Iterable[str]:
    """What "is open" and "is closed" say, of which other sentences make verbs."""
    if verb == "be":
        yield from (stem(each) for each in tokens[at:] if each in ("open", "closed", "close"))


def _parts(tokens: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """A property and what it is one of: "the code of the gate", "Ana's flat"."""
    for at, token in enumerate(tokens):
        if token.lower() in ("of", "for") and 0 < at < len(tokens) - 1:
            return tokens[:at], tokens[at + 1 :]
        if token.endswith("'s") and at < len(tokens) - 1:
            return tokens[at + 1 :], tokens[: at + 1]
    return (), tokens


def _terms(tokens: Iterable[str], speaker: frozenset[str]) -> Iterable[str]:
    for token in tokens:
        lowered = token.lower().removesuffix("'s")
        if token == _MAY:
            yield stem(lowered)
        elif (person := _PERSONS.get(lowered)) is not None:
            yield from speaker if speaker and person == SELF else (person,)
        elif term := _term(lowered):
            yield term


@lru_cache(maxsize=20_000)
def _term(word: str) -> str:
    """The term of a word in lower case; "" where it says nothing of what is claimed."""
    if word in STOP_WORDS or word in known.VERBS or word.endswith("n't"):
        return ""
    if "'" in word and word.partition("'")[0] in STOP_WORDS:
        return ""  # "I'm", "they're", "that's"
    term = stem(word)
    return "" if term in known.CUE_TERMS else term


def _values(tokens: Sequence[str], *, begins: bool) -> Iterable[tuple[str, str]]:
    """The values among tokens, which may be the beginning of a sentence."""
    is_place = False
    for at, word in enumerate(tokens):
        lowered = word.lower().removesuffix("'s")
        term = stem(lowered)
        if lowered in known.PREPOSITIONS or lowered in ("to", "with", "and", "where"):
            after = tokens[at + 1] if at + 1 < len(tokens) else ""
            heads = lowered == "to" and (after[:1].isupper() or after.lower() in ("the", "a"))
            is_place = lowered in ("in", "at") or heads
        elif word[0].isdigit():
            yield term, "number"
        elif (kind := "month" if word == _MAY else known.KINDS.get(term)) is not None:
            yield term, kind
        elif is_place and lowered not in STOP_WORDS and lowered not in known.TIMES:
            yield term, "place"
        elif word[0].isupper() and word != "I" and not (begins and at == 0):
            yield term, "name"
