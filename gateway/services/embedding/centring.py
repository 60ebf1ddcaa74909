"""Models whose vectors all point one way, brought apart.

With some models any two texts are alike: e5 gives unrelated ones a cosine of 0.7 to 0.8 (as the
cards of its models say), so that nothing is ever far from a question. The mean of unrelated
texts' vectors is what they have in common. Without it unrelated texts are at 0, as with the
embedded model, and what the portal takes for near or far holds for both (decision 0084; Mu and
Viswanath, "All-but-the-Top", 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gateway.services.embedding.sample_texts import sample_texts

if TYPE_CHECKING:
    from gateway.contract.services import Matrix, Vector
    from gateway.services.embedding.model_profiles import Profile
    from gateway.services.embedding.sentence_models import SentenceModel


class Centred:
    """A model without what all its vectors have in common, of questions and of texts each.

    Args:
        model: the model, loaded.
    """

    def __init__(self, model: SentenceModel) -> None:
        self.max_tokens, self.dimensions = model.max_tokens, model.dimensions
        self._model = model
        texts = sample_texts()
        self._of_passages = model.passages(texts).mean(axis=0)
        self._of_queries = np.stack([model.query(text) for text in texts]).mean(axis=0)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed one batch of stored texts."""
        return unit_rows(self._model.passages(texts) - self._of_passages)

    def query(self, text: str) -> Vector:
        """Embed one question."""
        vector: Vector = unit_rows((self._model.query(text) - self._of_queries)[None])[0]
        return vector


def centred(model: SentenceModel, profile: Profile) -> SentenceModel:
    """A model as its profile wants it used: as it is, or brought apart."""
    return Centred(model) if profile.centred else model


def unit_rows(rows: Matrix) -> Matrix:
    """Vectors of length one, as float32; what has no direction stays so."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return unit
