"""How well an entry answers, 0 to 1, whatever layer it lies in; and the order of results.

Similarity leads, since a question is seldom made of an entry's own words. Words count by the cube
of how much they prove, and only towards what similarity leaves open: a common word adds next to
nothing, several rare ones a lot, and more of either never makes a score smaller.
"""

from __future__ import annotations

from collections.abc import Iterable

from plugins.knowledge.memory.model.query_context import Scored
from plugins.knowledge.memory.model.requests import Mode

W_WORDS = 0.6
"""How much of what similarity leaves open words can fill."""
HALF_BM25 = 8.0
"""The BM25 score that is worth half."""
FLOOR = 0.3
"""The score below which a tool says that nothing fits, and shows the nearest apart (README)."""
MAX_NEAREST = 3
"""How many those are, together with what fits."""


def words_score(bm25: float) -> float:
    """A BM25 score, which has no upper end, as one of 0 to 1."""
    found = max(0.0, bm25)
    return found / (found + HALF_BM25)


def score(mode: Mode, similarity: float | None, words: float) -> float:
    """Weigh an entry's signals.

    Args:
        mode: which of them count.
        similarity: 0 to 1, or None where the entry has no vector, or the portal no model: then
            its words are all there is.
        words: 0 to 1.
    """
    if mode is Mode.KEYWORD or similarity is None:
        return words
    if mode is Mode.SEMANTIC:
        return similarity
    return similarity + (1.0 - similarity) * W_WORDS * words**3


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
