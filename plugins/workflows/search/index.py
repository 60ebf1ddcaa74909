"""The search index of all workflows, or of all skill cards, in memory; imported late, for numpy.

The index holds everyone's items and decides nothing about who sees them: it says which fit best,
and the store's queries say which of those are shown. It is used on the event loop alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plugins.workflows.search.embedding import vector_from_bytes
from plugins.workflows.search.matrix import Matrix
from plugins.workflows.search.postings import Floats, Postings, counted
from plugins.workflows.search.words import normal, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORD_WEIGHT = 0.2
"""How much the words of names and tags count beside meaning: enough to lift what is named, too
little to outdo what is meant."""
_MAX_SCORE_WITHOUT_NAME = 0.99
"""The most that an item scores whose name is not what was asked for."""
_SCORE_DIGITS = 6
"""What is kept of a score behind the point."""
_EQUAL_SCORES = 2 * 10.0**-_SCORE_DIGITS
"""Scores no further apart than this may be equal once they are rounded."""
_MAX_WASTED_ROWS = 500
"""Rows given up that are not worth an index made anew."""


@dataclass(frozen=True, slots=True)
class IndexedItem:
    """One item as the index takes it in.

    Attributes:
        stamp: when it was written, in the order of all such writing.
        gone: whether the item is deleted.
        public: whether it is published.
        text: a number that is another one for another text.
        vector: its vector by the model in use, or None.
    """

    id: str
    stamp: int
    gone: bool
    public: bool
    text: int
    name: str
    counts: Mapping[str, int]
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class Query:
    """A search query.

    Attributes:
        name: the form in which names are compared.
        terms: its stems.
        vector: its vector, or None where only words count.
    """

    name: str
    terms: tuple[str, ...]
    vector: NDArray[np.float32] | None

    @classmethod
    def of(cls, text: str, vector: NDArray[np.float32] | None) -> Query:
        """The query of a text and its vector."""
        return cls(normal(text), tuple(terms(text)), vector)


def parse_text(text: str) -> tuple[str, dict[str, int]]:
    """The comparable name and the counted terms of a text made by ``store/item_texts.py``."""
    name, _, rest = text.partition("\n")
    tags, _, body = rest.partition("\n")
    return normal(name), counted(f"{name}\n{tags}", body)


def vector_of(stored: bytes | None, dimensions: int) -> NDArray[np.float32] | None:
    """A stored vector, or None where there is none of that length."""
    if stored is None or len(stored) != 4 * dimensions:
        return None
    return vector_from_bytes(stored)


class Index:
    """Items by how well they fit a question.

    An item whose text is another one gets a new row; the old one is given up.

    Args:
        dimensions: the length of a vector, or None without a model.
    """

    def __init__(self, dimensions: int | None) -> None:
        self._ids: list[str] = []
        self._stamps = array("q")
        self._texts = array("q")
        self._rows: dict[str, int] = {}
        self._names: dict[str, list[int]] = {}
        self._live = bytearray()
        self._public = bytearray()
        self._embedded = bytearray()
        self._postings = Postings()
        self._matrix = None if dimensions is None else Matrix(dimensions)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def wasteful(self) -> bool:
        """Whether an index made anew would be a good deal smaller."""
        return len(self._ids) > _MAX_WASTED_ROWS + 1.5 * len(self._rows)

    def put(self, item: IndexedItem) -> None:
        """Add or update an item, unless the index already has a newer state of it."""
        if self.knows(item.id, item.stamp):
            return
        row = self._rows.get(item.id)
        if row is not None and (item.gone or self._texts[row] != item.text):
            self._give_up(item.id, row)
            row = None
        if item.gone:
            return
        if row is None:
            row = self._added(item)
        self._stamps[row] = item.stamp
        self._public[row] = item.public
        self._embedded[row] = item.vector is not None
        if self._matrix is not None and item.vector is not None:
            self._matrix.put(row, item.vector)

    def knows(self, id: str, stamp: int) -> bool:
        """Whether what was written of an item under a stamp, or later, is taken in."""
        row = self._rows.get(id)
        return row is not None and self._stamps[row] >= stamp

    def has_vector(self, id: str) -> bool:
        """Whether an item is compared by meaning."""
        row = self._rows.get(id)
        return row is not None and bool(self._embedded[row])

    def best(self, question: Query, most: int) -> list[tuple[str, float]]:
        """The items that fit best, each with its score in 0..1; none with 0."""
        scores = self._scores(question)
        rows = np.flatnonzero(scores)
        if len(rows) > most:
            # Equals of the last one stay, so that their ids decide and not the order of rows.
            last = np.partition(scores[rows], -most)[-most]
            rows = rows[scores[rows] >= last - _EQUAL_SCORES]
        return self._sorted(scores, rows)[:most]

    def among(self, question: Query, ids: Iterable[str]) -> list[tuple[str, float]]:
        """Those of some items that fit, best first, as :meth:`best` gives them."""
        scores = self._scores(question)
        known = [row for id in ids if (row := self._rows.get(id)) is not None]
        rows = np.array(known, np.int64)
        return self._sorted(scores, rows[scores[rows] > 0])

    def _sorted(self, scores: Floats, rows: NDArray[np.int64]) -> list[tuple[str, float]]:
        # Rounded, since the last digits depend on how many rows there are.
        rounded = np.round(scores[rows].astype(np.float64), _SCORE_DIGITS)
        known = self._ids
        found = zip((-rounded).tolist(), [known[row] for row in rows.tolist()], strict=True)
        return [(id, -negative) for negative, id in sorted(found)]

    def _scores(self, question: Query) -> Floats:
        if not self._ids:
            return np.zeros(0, np.float32)
        public = np.frombuffer(self._public, np.uint8)
        scores, head = self._postings.scores(question.terms, public)
        if self._matrix is not None and question.vector is not None:
            meant = self._matrix.dot(question.vector, len(self._ids))
            np.maximum(meant, 0, out=meant)
            both = np.float32(1 - WORD_WEIGHT) * meant + np.float32(WORD_WEIGHT) * head
            np.copyto(scores, both, where=_flags(self._embedded))
        scores = np.minimum(scores, 1) * np.float32(_MAX_SCORE_WITHOUT_NAME)
        scores[self._names.get(question.name, [])] = 1
        scores[~_flags(self._live)] = 0
        return scores

    def _added(self, item: IndexedItem) -> int:
        row = self._rows[item.id] = len(self._ids)
        self._ids.append(item.id)
        self._stamps.append(item.stamp)
        self._texts.append(item.text)
        for flags in (self._live, self._public, self._embedded):
            flags.append(0)
        self._live[row] = 1
        self._names.setdefault(item.name, []).append(row)
        self._postings.add(row, item.counts)
        return row

    def _give_up(self, id: str, row: int) -> None:
        del self._rows[id]
        self._live[row] = self._public[row] = self._embedded[row] = 0


def _flags(of: bytearray) -> NDArray[np.bool_]:
    return np.frombuffer(of, np.bool_)
