"""What a question is about, apart from what it asks of that.

"What is the limit of the importer?" is about the importer, and of another thing's limit it asks
nothing. So an entry takes the place of an earlier one only where it says as much of the subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.toolkit.words import STOP_WORDS, stem
from plugins.knowledge.memory.algorithms.vocabulary import AUXILIARIES, PREPOSITIONS, VERBS

_BE = "is|are|was|were"
_DO = "do|does|did"
_ASKS = f"{_BE}|{_DO}|can|could|must|may|should|has|have|had|will|would"
_KIND = re.compile(
    rf"\b(what|which)\s+(?!(?:{_ASKS})\b)(?:[\w-]+\s+){{1,3}}?(?=(?:{_ASKS})\b)", re.IGNORECASE
)
"""What is asked for: "which day", "what dose"."""
_COUNTED = re.compile(r"\b(how) many\s+[\w-]+", re.IGNORECASE)
"""What is to be counted: "how many people", of which the answer may say "participants"."""
_PROPERTY = re.compile(rf"\b({_BE})\s+the\s+(?:[\w-]+\s+){{1,3}}?(?=(?:of|for)\b)", re.IGNORECASE)
"""What is asked of the subject: "the limit of", "the password for"."""
_OWNED = re.compile(r"(['\u2019]s)\s+[\w-]+")
"""The same of somebody: "Ana's number"."""
_DOES = re.compile(r"\b(who|what)\s+(?!is\b|was\b|does\b|has\b)[a-z]+(?:s|ed)\b", re.IGNORECASE)
"""What somebody does: "who looks after"."""
_IS = re.compile(rf"\b(?:{_BE})\b", re.IGNORECASE)
_DONE = re.compile(r"\s([a-z]+ed)(?=\W*$|\s)")
"""What may be done to it: "where is it deployed"."""
_TAIL = re.compile(rf"\b(?:{_DO})\b(.*)$", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[\w'\u2019-]+")
_ARTICLES = frozenset({"the", "a", "an", "our", "my", "your", "their", "his", "her"})
"""What begins the name of a thing: behind who does it, it begins what it is done to."""
_LINKS = PREPOSITIONS | {"to", "with", "from", "into", "about"}


def subject_of(question: str) -> str:
    """The words of a question that say what it is about; its verbs are not among them.

    Args:
        question: as it was asked.
    """
    left = _COUNTED.sub(r"\1", _KIND.sub(r"\1 ", question))
    left = _OWNED.sub(r"\1", _PROPERTY.sub(r"\1 ", left))
    left = _without_participle(_DOES.sub(r"\1", left))
    kept = [word for word in _WORD.findall(left) if not _is_verb(word)]
    tail = _TAIL.search(left)
    if tail is not None and (verb := _verb_at_end(_WORD.findall(tail[1]))) in kept:
        kept.remove(verb)
    return " ".join(kept)


def without_verbs(question: str) -> str:
    """The words of a question without its verbs: what it is about, and what it asks of that.

    Args:
        question: as it was asked.
    """
    return " ".join(word for word in _WORD.findall(question) if not _is_verb(word))


def _without_participle(question: str) -> str:
    """A question without what is done; a shed, a bed and a seed end alike and are things.

    The ending of a verb is one that the stemmer takes off, and "the raised bed" is not raised now.
    """
    begins = _IS.search(question)
    if begins is None:
        return question
    for match in _DONE.finditer(question, begins.end()):
        *_, before = question[: match.start()].split()
        if stem(match[1]) != match[1] and before.lower() not in _ARTICLES:
            return question[: match.start()] + question[match.end() :]
    return question


def _verb_at_end(words: Sequence[str]) -> str:
    """The verb that "does" leaves to the end: "how often does the newsletter come out"."""
    if any(map(_is_verb, words)):
        return ""
    last = next((word for word in reversed(words) if word.lower() not in STOP_WORDS), "")
    behind = words[: words.index(last)] if last else ()
    is_thing = any(word.lower() in _LINKS for word in behind)
    is_thing = is_thing or any(word.lower() in _ARTICLES for word in behind[1:])
    return "" if is_thing or not last.islower() else last


def _is_verb(word: str) -> bool:
    return word.lower() in VERBS or word.lower() in AUXILIARIES
