"""The names in a question, and the question without them.

A name says of whom something is asked, and the other words say what. One vector of both is near to
everything that somebody ever said, so a question is also read without its names. Only English is
read so: elsewhere other words than names have capitals.
"""

from __future__ import annotations

import re

from gateway.toolkit.words import STOP_WORDS, terms
from plugins.knowledge.memory.algorithms.vocabulary import KINDS, PREPOSITIONS

QUESTION = re.compile(r"\b(?:what|which|who|whom|whose|where|when|why|how)\b", re.I)
"""Words that ask."""
MAX_NAMES = 5
"""Names of a question that count: the first ones."""
_WORD = re.compile(r"[^\W\d_][\w-]*(?:['\u2019]s\b)?")
_BEGINS = re.compile(r"(?:^|[.?!;:]\s+)$")
_OWNER = re.compile(r"['\u2019]s$")


def names_in(question: str) -> tuple[str, ...]:
    """The names in a question, each once; none where it is not asked in English.

    The first word of a sentence is one where something is said to be theirs: "Ana's flat". What
    somebody is called in a chat (``kim_w``, ``@kim``) is one in lower case, too.

    Args:
        question: as it was asked.
    """
    if QUESTION.search(question) is None:
        return ()
    found: dict[str, None] = {}
    for match in _WORD.finditer(question):
        word, owns = _OWNER.subn("", match[0])
        begins = _BEGINS.search(question[: match.start()]) is not None
        is_handle = "_" in word or question[: match.start()].endswith("@")
        is_name = word[0].isupper() and (owns or not begins) and not _is_plain(word)
        if is_name or is_handle:
            found[word] = None
    return tuple(found)[:MAX_NAMES]


def without_names(question: str, names: tuple[str, ...]) -> str:
    """A question without its names; as it is where nothing would be left to ask.

    Args:
        question: as it was asked.
        names: the names in it.
    """
    if not names:
        return question
    some = "|".join(map(re.escape, names))
    left = re.sub(rf"@?\b(?:{some})\b(?:['\u2019]s\b)?\s?", "", question).strip()
    return left if terms(left) else question


def _is_plain(word: str) -> bool:
    """Whether a word is no name, though it has a capital."""
    lowered = word.lower()
    if lowered in STOP_WORDS or lowered in PREPOSITIONS or QUESTION.fullmatch(word):
        return True
    return word == "I" or any(KINDS.get(term) in ("day", "month") for term in terms(word))
