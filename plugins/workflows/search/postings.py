"""Which rows hold which terms, and how well a question's terms fit them (BM25).

score(q, d) = sum over the terms t of q of IDF(t) * f * (k + 1) / (f + k * (1 - b + b * |d| /
average)), as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), divided by
the most that it can be, so that it is in 0..1. A posting takes five bytes.

How rare a term is (IDF) is counted among the published rows alone: otherwise scores would tell
what is in others' private ones.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from plugins.workflows.search.words import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float32]"
Flags: TypeAlias = "NDArray[np.uint8]"

MAX_QUERY_TERMS = 64
"""Different terms of a question that count: the first ones."""

_K = 1.2
_B = 0.75
_AVERAGE = 60.0
"""Terms of a text, about; a constant, so that a score depends on nobody else's text."""
_HEAD = 128
"""The bit that says that a term is in the name or a tag."""
_HEAD_COUNTS = 2
"""How often a term of the head counts beside the times that it is there."""


@dataclass(slots=True)
class _Posting:
    rows: array[int] = field(default_factory=lambda: array("I"))
    counts: bytearray = field(default_factory=bytearray)


def counted(head: str, body: str) -> dict[str, int]:
    """The terms of a text with how often each is there and whether it is in the head.

    Args:
        head: the name and the tags.
        body: the rest.
    """
    telling = terms(head)
    counts = Counter(telling)
    counts.update(terms(body))
    heads = set(telling)
    return {
        term: min(count, _HEAD - 1) | (_HEAD if term in heads else 0)
        for term, count in counts.items()
    }


class Postings:
    """The terms of all rows; a row is added once and never changed."""

    def __init__(self) -> None:
        self._of: dict[str, _Posting] = {}
        self._lengths = array("H")

    def add(self, row: int, counts: Mapping[str, int]) -> None:
        """Take in the next row, with the terms that :func:`counted` gave."""
        self._lengths.append(min(sum(count & (_HEAD - 1) for count in counts.values()), 65_535))
        for term, count in counts.items():
            posting = self._of.get(term)
            if posting is None:
                posting = self._of[term] = _Posting()
            posting.rows.append(row)
            posting.counts.append(count)

    def scores(self, asked: Iterable[str], public: Flags) -> tuple[Floats, Floats]:
        """How well each row fits a question's terms: by the whole text, and by the head alone.

        Args:
            asked: the terms of the question.
            public: for each row, 1 where it is published and there.

        Returns:
            Two arrays in 0..1, a number for each row.
        """
        text = np.zeros(len(public), np.float32)
        head = np.zeros(len(public), np.float32)
        weights = self._weights(asked, public)
        most = sum(weights.values())
        if not most:
            return text, head
        longer = _K * (1 - _B + _B * np.frombuffer(self._lengths, np.uint16) / _AVERAGE)
        for term, weight in weights.items():
            posting = self._of.get(term)
            if posting is None:
                continue
            rows = np.frombuffer(posting.rows, np.uint32)
            counts = np.frombuffer(posting.counts, np.uint8)
            in_head = counts >> 7
            often = (counts & (_HEAD - 1)) + _HEAD_COUNTS * in_head.astype(np.float32)
            text[rows] += weight / most * often / (often + longer[rows])
            head[rows] += weight / most * in_head
        return text, head

    def _weights(self, asked: Iterable[str], public: Flags) -> dict[str, float]:
        """The inverse document frequency of each term of a question."""
        there = int(public.sum())
        weights = {}
        for term in islice(dict.fromkeys(asked), MAX_QUERY_TERMS):
            posting = self._of.get(term)
            known = 0
            if posting is not None:
                known = int(public[np.frombuffer(posting.rows, np.uint32)].sum())
            weights[term] = float(np.log1p((there - known + 0.5) / (known + 0.5)))
        return weights
