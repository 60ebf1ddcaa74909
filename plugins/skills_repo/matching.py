"""How well a skill matches a query: the words of both, their scores, and the floor below which a
skill is no answer."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.contract import Hit, Sparse

_AVERAGE_TERMS = 300.0
_WORD = re.compile(r"[^\W_]+")
_FILLER_WORDS = """
a an and are as at be by can do for from how i in is it me my of on or our that the this to use
using we what when which with you your
"""
_FILLERS = frozenset(_FILLER_WORDS.split())
_WEIGHT_OF_WORDS = 0.35
"""How much words count beside meaning: enough to lift an exact name, too little to outdo it."""
FLOOR = 0.19
"""The fit below which a skill is no answer, where there is a model to compare meanings.

Its fit is its meaning's score and :data:`_FIT_OF_WORDS` of its words' part of what the query's
words could score: so a word out of a body, such as an option's name, is an answer too. Measured
with the shipped model over 103 real skills: of 60 tasks in words of their own, 58 keep the right
skill, and the other two had it in the first and the fifth place; of 40 questions that have
nothing to do with any skill, 29 find nothing.
"""
_FIT_OF_WORDS = 0.5
_MOST_WEIGHT = 2.2
"""BM25's weight of a term that is said without end."""


@dataclass(frozen=True, slots=True)
class Match:
    """How a skill matches a query.

    Attributes:
        score: 0 to 1, for the order: its words count by how well the best skill's do.
        fit: how well it matches by itself; 1 where nothing is to be left out.
    """

    score: float
    fit: float = 1.0


def _rarity(points: int) -> float:
    """What the vector store counts a term for that one of so many points has."""
    return math.log(1 + (points - 0.5) / 1.5)


def combined(
    by_words: Sequence[Hit], by_meaning: Sequence[Hit] | None, words: int, points: int
) -> dict[str, Match]:
    """One match for each skill: its words' score as a part of the best one's, beside its meaning's.

    Args:
        by_words: what the words found.
        by_meaning: what meaning found; None without a model, where everything fits.
        words: the different words of the query.
        points: the skills that are searched.
    """
    most = words * _MOST_WEIGHT * _rarity(points)
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
    score = (1 - _WEIGHT_OF_WORDS) * meaning + _WEIGHT_OF_WORDS * words / best
    return Match(0.99 * score, meaning + (_FIT_OF_WORDS * words / most if most else 0.0))


def _terms(text: str) -> list[str]:
    """The words of a text that tell skills apart, in lower case, without a plural's s."""
    words = _WORD.findall(text.lower())
    return [_singular(word) for word in words if word not in _FILLERS and len(word) <= 40]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def text_terms(head: str, body: str) -> Sparse:
    """BM25's share of the stored text; a word of the head counts as three of the body."""
    counts = Counter(_terms(body))
    for term in _terms(head):
        counts[term] += 3
    rest = 1.2 * (0.25 + 0.75 * counts.total() / _AVERAGE_TERMS)
    weights: dict[int, float] = {}
    for term, count in counts.items():
        weights[zlib.crc32(term.encode())] = count * _MOST_WEIGHT / (count + rest)
    return Sparse(tuple(weights), tuple(weights.values()))


def query_terms(query: str) -> Sparse:
    """The words of a query, each once and all alike."""
    ids = tuple(dict.fromkeys(zlib.crc32(term.encode()) for term in _terms(query)))
    return Sparse(ids, (1.0,) * len(ids))
