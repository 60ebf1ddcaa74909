"""How well an entry answers, 0 to 1, whatever layer it lies in; and the order of results.

Order: similarity and BM25 are both evidence, and evidence adds up. A part of the BM25 score, which
is neither cut nor bent, is added to the cosine, and the sum is brought to 0 to 1. On three unlike
memories this ranked at least as well as the better of the two alone, which no bent or normalised
form did (README, "Ranking").

Fit: whether an entry answers at all is another matter than which answers better. There similarity
leads, and words count by the cube of how much they prove: a common word adds next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.requests import Mode

W_BM25 = 0.03
"""The weight of each unit of BM25; a cosine of 1 has 1."""
W_VOICE = 0.3
"""The weight of a speaker whom the question names; a cosine of 1 has 1."""
FAR, NEAR = 0.1, 0.4
"""Between these similarities that weight grows from nothing to all: who is named says much that is
beside the question, and "The city, half up front" does not tell where they live."""
W_WORDS = 0.6
"""Of the fit: how much of what similarity leaves open words can fill."""
HALF_BM25 = 8.0
"""The BM25 score that is worth half."""
W_ALL = 0.4
"""The share of the way from its score by words to 1 that an entry with every word of the question
gets: BM25 alone gives a word in a long entry next to nothing."""
FLOOR = 0.3
"""The fit below which a tool says that nothing fits, and shows the nearest apart (README)."""
MAX_NEAREST = 3
"""How many those are, together with what fits."""


def words_score(bm25: float) -> float:
    """A BM25 score, which has no upper end, as one of 0 to 1."""
    found = max(0.0, bm25)
    return found / (found + HALF_BM25)


def bm25_of(words: float) -> float:
    """The inverse of :func:`words_score`: the BM25 score."""
    return HALF_BM25 * words / (1.0 - words) if words < 1.0 else math.inf


def fit(similarity: float, words: float) -> float:
    """How sure it is that an entry answers at all, 0 to 1: what a floor is compared with.

    Args:
        similarity: 0 to 1.
        words: 0 to 1.
    """
    return similarity + (1.0 - similarity) * W_WORDS * words**3


def score(mode: Mode, similarity: float | None, words: float, *, is_named: bool = False) -> float:
    """Weigh an entry's signals, for the order of answers.

    Args:
        mode: which of them count.
        similarity: 0 to 1, or None where the entry has no vector, or the portal no model: then
            its words are all there is.
        words: 0 to 1.
        is_named: whether the question names who says it; counts where all signals do.
    """
    if mode is Mode.KEYWORD or similarity is None:
        return words
    if mode is Mode.SEMANTIC:
        return similarity
    voice = W_VOICE * min(1.0, max(0.0, (similarity - FAR) / (NEAR - FAR))) if is_named else 0.0
    return math.tanh(similarity + W_BM25 * bm25_of(words) + voice)


def sort_by_score(found: Iterable[Scored]) -> list[Scored]:
    """Results as they are shown: the best first, of equals the newer, then by id."""
    return sorted(found, key=lambda one: (-one.score, -one.changed.timestamp(), one.id))


def merge_results(layers: Iterable[Iterable[Scored]]) -> list[Scored]:
    """The results of several layers as one list; what two of them found counts once, at its best.

    Args:
        layers: what each found, in any order.
    """
    best: dict[str, Scored] = {}
    for found in layers:
        for one in found:
            known = best.get(one.id)
            if known is None or sort_by_score((one, known))[0] is one:
                best[one.id] = one
    return sort_by_score(best.values())
