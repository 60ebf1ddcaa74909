"""The floor: below a minimum score, the nearest documents are no answer."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import islice

from gateway.toolkit.function_words import told_language
from gateway.toolkit.languages import DEFAULT
from gateway.toolkit.words import terms
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.relevance import PERFECT, Candidate

FLOOR = 0.22
"""The score, 0 to 1, that the best document of an answer has to have.

The README ("Where nothing fits") has the measurements: what floors from 0.15 to 0.3 lose of 1,187
right answers, and how many questions in vain they leave without an answer.

Where one document reaches it, the others stay, however low they score: cut at the floor too, nDCG@5
on civic-kb's given questions fell from .685 to .659, with the weights before decision 0044.
"""

OWN_LANGUAGE_FLOOR = 0.3
"""The same for a question in a language of the base, with a model of the e5 family.

Such a model finds any two texts of one language nearer than two of different ones. The README has
what this loses, and how much in vain it leaves empty.
"""

MIN_WORD_SHARE = 1 / 3
"""The share of a question's words that a document has to exceed, without a model.

The README ("Where nothing fits") has what that loses, and how much in vain it leaves empty.
"""
MIN_UNREAD_SHARE = 1 / 5
"""The same for a question that the model cannot read (``readable.py``), where no score counts.

Less, as half the pairs of characters of a question are its grammar. Over 29 documents in seven
languages, with questions in five: of 42 in vain 38 get no answer, of 21 that fit 16 keep theirs;
with a third it is 41 and 12.
"""
_MAX_NAMED = 3


_IS_E5 = re.compile(r"\be5\b", re.IGNORECASE)
_LETTERS = 60
"""Letters of a text that tell its script."""
_SAMPLE = 200
"""So many documents tell the scripts of all."""
_LATIN = "LATIN"
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


def tells_languages(model: str | None) -> bool:
    """Whether a model finds texts of one language nearer than those of two.

    Args:
        model: the portal's, if it has one.
    """
    return model is not None and _IS_E5.search(model) is not None


def least_score(question: str, languages: Collection[str], scripts: Collection[str]) -> float:
    """The score, 0 to 1, that the best document has to have, with a model that tells languages.

    Args:
        question: the question.
        languages: those of the base's documents, as far as there are stemmers for them.
        scripts: what their titles are written in (:func:`scripts_of`).
    """
    script = _script(question)
    if script not in scripts:
        return FLOOR
    own = (told_language(question) or DEFAULT) if script == _LATIN else None
    return OWN_LANGUAGE_FLOOR if own is None or own in languages else FLOOR


def reaches(candidate: Candidate, least: float) -> bool:
    """Whether a document has a score, 0 to 1."""
    return candidate.score >= least * PERFECT


def scripts_of(entries: Sequence[DocumentEntry]) -> frozenset[str]:
    """The scripts of documents, as the titles and descriptions of some of them tell."""
    some = entries[:: len(entries) // _SAMPLE + 1]
    return frozenset(_script(f"{one.title} {one.description}") for one in some)


def _script(text: str) -> str:
    """The script that most of a text's first letters are in, by Unicode's name of it."""
    letters = islice((one for one in text if one.isalpha()), _LETTERS)
    found = Counter(
        unicodedata.name(one, "").partition(" ")[0].partition("-")[0] for one in letters
    )
    script = max(found, key=found.__getitem__, default="")
    return "CJK" if script in _EAST_ASIAN else script


def by_language(
    question: str, languages: Iterable[str], stop_words: Collection[str]
) -> dict[str, frozenset[str]]:
    """The words of a question as the stemmer of each language has them, where there are any."""
    asked = {one: frozenset(terms(question, stop_words, language=one)) for one in languages}
    return {one: words for one, words in asked.items() if words}


def saying(
    asked: Mapping[str, Set[str]],
    holding: Mapping[str, Set[tuple[str, int]]],
    least: float,
) -> set[str]:
    """The keys of what answers by what it says, however low it scores.

    A document answers that says every word of the question, such as a number or a rare name, in one
    passage and its head. Fewer words do where little can be said of meanings.

    Args:
        asked: the words of the question, by language.
        holding: the keys and ordinals of the passages and heads that hold each word.
        least: the share of the words that it has to exceed (:func:`least_share`).
    """
    found: set[str] = set()
    for words in asked.values():
        held: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for word in words:
            for place in holding[word]:
                held[place].add(word)
        for (key, _), said in held.items():
            count = len(said | held.get((key, 0), set()))
            if count == len(words) or count > least * len(words):
                found.add(key)
    return found


def least_share(*, by_meaning: bool, is_read: bool) -> float:
    """The share of a question's words that a document has to exceed; 1 where it has to hold all.

    Args:
        by_meaning: whether meanings were compared, by a model that knows the language.
        is_read: whether the portal's model can read the question.
    """
    if by_meaning:
        return 1.0
    return MIN_WORD_SHARE if is_read else MIN_UNREAD_SHARE


def nothing_fits(entries: Iterable[DocumentEntry]) -> str:
    """What an answer without results says.

    Args:
        entries: what was found, the nearest first.
    """
    nearest = [f"{one_line(one.title)} ({one.key})" for one in entries][:_MAX_NAMED]
    if not nearest:
        return "Nothing here fits that."
    return f"Nothing here fits that. Nearest, though far from it: {', '.join(nearest)}."
