"""BM25 in two halves: a weight for each term of a text, and how rare a term is.

score(q, d) = sum over the terms t of q of IDF(t) * tf(t, d), with
tf(t, d) = f * (k + 1) / (f + k * (1 - b + b * |d| / average length), as in Robertson and Zaragoza,
"The Probabilistic Relevance Framework" (2009). The vector store multiplies the first half, as a
sparse vector, by the second; who keeps the weights elsewhere does so with :func:`rarity`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping

from gateway.contract import Sparse

K = 1.2
B = 0.75
MAX_WEIGHT = K + 1
"""The weight of a term that a text repeats without end."""


def text_weights(counts: Mapping[str, float], average: float) -> Sparse:
    """The weights of a text's terms.

    Args:
        counts: how often each term is there (``Counter(terms(text))``); what stands in a field that
            weighs more counts as often as that says (BM25F, in its simple form).
        average: how many terms a text of this kind has, about. Take a constant, so that no weight
            depends on what else there is.
    """
    rest = K * (1 - B + B * sum(counts.values()) / average)
    weights = {term_id(term): n * MAX_WEIGHT / (n + rest) for term, n in counts.items()}
    return Sparse(tuple(weights), tuple(weights.values()))


def query_weights(terms: Iterable[str], more: Mapping[str, float] | None = None) -> Sparse:
    """The terms of a question, each once and all alike.

    Args:
        terms: what was asked.
        more: terms that were not asked, and how much each counts beside those.
    """
    weights = {term_id(term): weight for term, weight in (more or {}).items()}
    weights |= dict.fromkeys(map(term_id, terms), 1.0)
    return Sparse(tuple(weights), tuple(weights.values()))


def term_id(term: str) -> int:
    """The index of a term in every sparse vector: CRC-32 of its UTF-8 bytes."""
    return zlib.crc32(term.encode())


def rarity(texts: int, having: int) -> float:
    """The inverse document frequency of a term: how much it tells, from 0 on.

    Args:
        texts: how many texts there are.
        having: how many of them have the term.
    """
    return math.log(1 + (texts - having + 0.5) / (having + 0.5))
