"""Sentence encoders, loaded: one in a local ONNX directory, one by its fastembed name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gateway.services.embedding.centring import unit_rows
from gateway.services.embedding.fastembed_models import open_fastembed
from gateway.services.embedding.model_profiles import Pooling, Profile, of_directory, of_name
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

    Args:
        directory: the model's.
        profile: how it is used; by default as :func:`model_profiles.of_directory` reads it.

    Raises:
        ModelUnavailable: the directory holds no usable model.
    """

    def __init__(self, directory: Path, profile: Profile | None = None) -> None:
        self.profile = of_directory(directory) if profile is None else profile
        self._model = OnnxText(directory)
        self.max_tokens = self._model.max_tokens
        self.dimensions = self.query("").shape[0]

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch: float32, shape (len(texts), dimensions), rows of length one."""
        return self._embedded([self.profile.passage + text for text in texts])

    def query(self, text: str) -> Vector:
        """Embed one question."""
        vector: Vector = self._embedded([self.profile.query + text])[0]
        return vector

    def _embedded(self, texts: Sequence[str]) -> Matrix:
        output, mask = self._model.run(texts)
        return unit_rows(_pooled(output, mask, self.profile.pooling))


class FastembedSentences:
    """A model that fastembed knows by name, from files that were fetched before.

    fastembed pools as each model wants it, and leaves the prefixes to its caller.

    It never downloads: fetching is a step of its own (:func:`prepare`), because without a
    network fastembed waits 39 seconds before it gives up.

    Raises:
        ModelUnavailable: fastembed does not know the name, or its files are not here.
    """

    max_tokens = 512

    def __init__(self, name: str) -> None:
        self._model = open_fastembed(name, fetch=False)
        self.profile = of_name(name)
        self.dimensions = int(self._model.embedding_size)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch, with the model's prefix for stored texts."""
        return self._embedded(self._model.passage_embed, self.profile.passage, texts)

    def query(self, text: str) -> Vector:
        """Embed one question, with the model's prefix for questions."""
        vector: Vector = self._embedded(self._model.query_embed, self.profile.query, [text])[0]
        return vector

    def _embedded(
        self, embed: Callable[[list[str]], Any], prefix: str, texts: Sequence[str]
    ) -> Matrix:
        cut = [prefix + clean(text, self.max_tokens) for text in texts]
        return unit_rows(np.stack(list(embed(cut))))


def _pooled(output: Any, mask: Any, pooling: Pooling) -> Any:
    """One vector for each text; a model that pools by itself has done so already."""
    if output.ndim == 2:
        return output
    if pooling == "cls":
        return output[:, 0]
    if pooling == "last":
        places = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        return output[np.arange(len(output)), places]
    return (output * mask[:, :, None]).sum(axis=1, dtype=np.float32)
