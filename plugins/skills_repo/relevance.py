"""How well a skill matches a query, and the score below which it is no answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.contract import Hit, Sparse
from gateway.toolkit import bm25
from gateway.toolkit.words import MAX_TERM_CHARACTERS

_AVERAGE_TERM_COUNT = 300.0
_WORD = re.compile(r"[^\W_]+")
_STOP_WORD_TEXT = """
a an and are as at be by can do for from how i in is it me my of on or our that the this to use
using we what when which with you your
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
_WORD_WEIGHT = 0.35
"""How much words count beside meaning: enough to lift an exact name, too little to outdo it."""
MIN_FIT = 0.19
"""The fit below which a skill is no answer, where there is a model to compare meanings.

Its fit is its meaning's score and :data:`_WORD_FIT_WEIGHT` of its words' part of what the query's
words could score: so a word out of a body, such as an option's name, is an answer too. Measured
with the shipped model over 103 real skills: of 60 tasks in words of their own, 58 keep the right
skill, and the other two had it in the first and the fifth place; of 40 questions that have
nothing to do with any skill, 29 find nothing.
"""
_WORD_FIT_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Match:
    """How a skill matches a query.

    Attributes:
        score: 0 to 1, for the order: its words count by how well the best skill's do.
        fit: how well it matches by itself; 1 where nothing is to be left out.
    """

    score: float
    fit: float = 1.0


def combine_scores(
    by_words: Sequence[Hit], by_meaning: Sequence[Hit] | None, words: int, points: int
) -> dict[str, Match]:
    """One match for each skill: its words' score as a part of the best one's, beside its meaning's.

    Args:
        by_words: what the words found.
        by_meaning: what meaning found; None without a model, where everything fits.
        words: the different words of the query.
        points: the skills that are searched.
    """
    most = words * bm25.MAX_WEIGHT * bm25.rarity(points, having=1)
    best = max((hit.score for hit in by_words), default=0.0) or 1.0
    said = {str(hit.payload["key"]): max(0.0, hit.score) for hit in by_words}
    if by_meaning is None:
        return {key: Match(0.99 * score / best) for key, score in said.items()}
    meaning = {str(hit.payload["key"]): max(0.0, hit.score) for hit in by_meaning}
    return {
        key: _match(meaning.get(key, 0.0), said.get(key, 0.0), best, most)
        for key in said.keys() | meaning.keys()
    }


def _match(meaning: float, words: float, best: float, most: float) -> Match:
    score = (1 - _WORD_WEIGHT) * meaning + _WORD_WEIGHT * words / best
    return Match(0.99 * score, meaning + (_WORD_FIT_WEIGHT * words / most if most else 0.0))


def _terms(text: str) -> list[str]:
    """The words of a text that tell skills apart, in lower case, without a plural's s."""
    words = _WORD.findall(text.lower())
    return [
        _singular(word)
        for word in words
        if word not in _STOP_WORDS and len(word) <= MAX_TERM_CHARACTERS
    ]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def text_terms(head: str, body: str) -> Sparse:
    """BM25's share of the stored text; a word of the head counts as three of the body."""
    counts = Counter(_terms(body))
    for term in _terms(head):
        counts[term] += 3
    return bm25.text_weights(counts, _AVERAGE_TERM_COUNT)


def query_terms(query: str) -> Sparse:
    """The words of a query, each once and all alike."""
    return bm25.query_weights(_terms(query))
