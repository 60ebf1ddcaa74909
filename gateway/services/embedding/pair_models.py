"""Cross-encoders, loaded: one in a local ONNX directory, one by its fastembed name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gateway.services.embedding.fastembed_models import open_fastembed
from gateway.services.embedding.onnx_text import OnnxText, clean


class PairModel(Protocol):
    """A loaded cross-encoder; it runs on the model's thread."""

    def logits(self, query: str, passages: Sequence[str]) -> list[float]:
        """One raw judgement a passage, higher is better, of any size."""
        ...


class OnnxPairs:
    """A cross-encoder in a local directory.

    Raises:
        ModelUnavailable: the directory holds no usable model.
    """

    def __init__(self, directory: Path) -> None:
        self._model = OnnxText(directory)

    def logits(self, query: str, passages: Sequence[str]) -> list[float]:
        """The first number that the model gives for each pair."""
        output, _ = self._model.run([(query, passage) for passage in passages])
        return [float(row[0]) for row in output.reshape(len(passages), -1)]


class FastembedPairs:
    """A cross-encoder that fastembed knows by name, from files that were fetched before.

    Raises:
        ModelUnavailable: fastembed does not know the name, or its files are not here.
    """

    max_tokens = 512

    def __init__(self, name: str) -> None:
        self._model = open_fastembed(name, fetch=False, kind="TextCrossEncoder")

    def logits(self, query: str, passages: Sequence[str]) -> list[float]:
        """The model's raw scores."""
        cut = [clean(passage, self.max_tokens) for passage in passages]
        scores = self._model.rerank(clean(query, self.max_tokens), cut)
        return [float(score) for score in scores]
