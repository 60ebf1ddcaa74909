"""Sentence encoders, loaded: one in a local ONNX directory, one by its fastembed name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gateway.services.embedding.fastembed_models import open_fastembed
from gateway.services.embedding.onnx_text import OnnxText, clean

if TYPE_CHECKING:
    from gateway.contract.services import Matrix, Vector


class SentenceModel(Protocol):
    """A loaded model; its methods run on the model's thread."""

    max_tokens: int
    dimensions: int

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch of stored texts."""
        ...

    def query(self, text: str) -> Vector:
        """Embed one question."""
        ...


class OnnxSentences:
    """A sentence encoder in a local directory.

    A model that gives one vector a token is pooled by the mean over the real tokens.

    Raises:
        ModelUnavailable: the directory holds no usable model.
    """

    def __init__(self, directory: Path) -> None:
        self._model = OnnxText(directory)
        self.max_tokens = self._model.max_tokens
        self.dimensions = self.query("").shape[0]

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch: float32, shape (len(texts), dimensions), rows of length one."""
        output, mask = self._model.run(texts)
        if output.ndim == 3:
            output = (output * mask[:, :, None]).sum(axis=1, dtype=np.float32)
        return _unit_rows(output)

    def query(self, text: str) -> Vector:
        """Embed one question, as a stored text."""
        vector: Vector = self.passages([text])[0]
        return vector


class FastembedSentences:
    """A model that fastembed knows by name, from files that were fetched before.

    It never downloads: fetching is a step of its own (:func:`prepare`), because without a
    network fastembed waits 39 seconds before it gives up.

    Raises:
        ModelUnavailable: fastembed does not know the name, or its files are not here.
    """

    max_tokens = 512

    def __init__(self, name: str) -> None:
        self._model = open_fastembed(name, fetch=False)
        self.dimensions = int(self._model.embedding_size)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch, with the model's own prefix for stored texts."""
        return _unit_rows(np.stack(list(self._model.passage_embed(_cut(texts)))))

    def query(self, text: str) -> Vector:
        """Embed one question, with the model's own prefix for questions."""
        vector: Vector = _unit_rows(np.stack(list(self._model.query_embed(_cut([text])))))[0]
        return vector


def _cut(texts: Sequence[str]) -> list[str]:
    return [clean(text, FastembedSentences.max_tokens) for text in texts]


def _unit_rows(rows: Any) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return unit
