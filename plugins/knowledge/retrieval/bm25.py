"""BM25 as sparse vectors: the document's half here, the inverse document frequency in the store.

score(q, d) = sum over the terms t of q of IDF(t) * tf(t, d), with
tf(t, d) = f * (k + 1) / (f + k * (1 - b + b * |d| / average length), as in Robertson and Zaragoza,
"The Probabilistic Relevance Framework" (2009). A term's index is a 32 bit hash of its stem.
"""

from __future__ import annotations

import zlib
from collections import Counter

from gateway.contract import Sparse
from plugins.knowledge.retrieval.terms import terms

_K = 1.2
_B = 0.75


def document(text: str, average: float) -> Sparse:
    """The sparse vector of a stored text.

    Args:
        text: the text.
        average: how many terms a text of this kind has on average.
    """
    found = terms(text)
    rest = _K * (1 - _B + _B * len(found) / average)
    weights: dict[int, float] = {}
    for term, count in Counter(found).items():
        weights[term_id(term)] = count * (_K + 1) / (count + rest)
    return Sparse(tuple(weights), tuple(weights.values()))


def query(text: str) -> Sparse:
    """The sparse vector of a question: weight one for each different term."""
    ids = tuple(dict.fromkeys(term_id(term) for term in terms(text)))
    return Sparse(ids, (1.0,) * len(ids))


def term_id(term: str) -> int:
    """The index of a term in every sparse vector: CRC-32 of its UTF-8 bytes."""
    return zlib.crc32(term.encode())
