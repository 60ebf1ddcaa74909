"""BM25 as sparse vectors: the document's half here, the inverse document frequency in the store."""

from __future__ import annotations

from collections import Counter

from gateway.contract import Sparse
from gateway.toolkit.bm25 import query_weights, text_weights
from gateway.toolkit.words import terms


def document(text: str, average: float) -> Sparse:
    """The sparse vector of a stored text.

    Args:
        text: the text.
        average: how many terms a text of this kind has on average.
    """
    return text_weights(Counter(terms(text)), average)


def query(text: str) -> Sparse:
    """The sparse vector of a question: weight one for each different term."""
    return query_weights(terms(text))
