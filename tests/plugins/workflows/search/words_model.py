"""A small embedding model for tests: texts with the same words are near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plugins.workflows.search.words import terms


class WordsModel:
    """An embedder in this process.

    Attributes:
        read: every stored text that it was given, in order.
        same: words that it takes for another one.
    """

    def __init__(self, model: str = "words", dimensions: int = 64, **same: str) -> None:
        self.model = model
        self.dimensions = dimensions
        self.read: list[str] = []
        self.same = {terms(word)[0]: terms(other)[0] for word, other in same.items()}

    async def passages(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return np.stack([self._vector(text) for text in texts])

    async def query(self, text: str) -> Any:
        return self._vector(text)

    def _vector(self, text: str) -> Any:
        vector = np.full(self.dimensions, 1e-3, np.float32)
        for term in terms(text):
            vector[sum(self.same.get(term, term).encode()) * 31 % self.dimensions] += 1
        return vector / np.linalg.norm(vector)
