"""Models whose vectors all point one way are brought apart."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gateway.services.embedding import multilingual_e5
from gateway.services.embedding.centring import Centred, centred, unit_rows
from gateway.services.embedding.model_profiles import Profile, of_name
from gateway.services.embedding.sample_texts import sample_texts
from gateway.services.embedding.sentence_models import OnnxSentences

if TYPE_CHECKING:
    from gateway.contract.services import Matrix, Vector

E5 = of_name("e5-small")


class OneWay:
    """A model whose vectors are mostly what they have in common, by words for the rest."""

    max_tokens, dimensions = 16, 64

    def passages(self, texts: Sequence[str]) -> Matrix:
        return self._embedded(texts, 5)

    def query(self, text: str) -> Vector:
        vector: Vector = self._embedded([text], 50)[0]
        return vector

    def _embedded(self, texts: Sequence[str], toward: int) -> Matrix:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                random = np.random.default_rng(zlib.crc32(word.encode()))
                row += random.normal(size=self.dimensions)
            row /= np.linalg.norm(row)
            row[toward] += 2
        return unit_rows(rows)


def test_unrelated_texts_are_far_apart_and_related_ones_near() -> None:
    plain, model = OneWay(), centred(OneWay(), E5)
    texts = ["the well is deep", "bread and cheese", "the deep well"]
    assert plain.passages(texts)[0] @ plain.passages(texts)[1] > 0.7
    passages, question = model.passages(texts), model.query("the well is deep")
    assert abs(passages[0] @ passages[1]) < 0.3
    assert passages[0] @ passages[2] > 0.7
    assert question @ passages[0] > 0.7 > 0.3 > abs(question @ passages[1])
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert passages.dtype == question.dtype == np.float32


def test_a_model_is_left_as_it_is_where_its_profile_says_nothing() -> None:
    assert isinstance(centred(OneWay(), Profile()), OneWay)
    assert isinstance(centred(OneWay(), E5), Centred)


def test_vectors_that_are_centred_otherwise_have_another_name() -> None:
    marks = {E5.mark, Profile(query="query: ", passage="passage: ").mark}
    assert len(marks) == 2
    assert len({*sample_texts()}) == len(sample_texts()) > 30


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_with_the_multilingual_model_what_is_nothing_is_far_from_everything() -> None:
    if not multilingual_e5.is_installed():
        pytest.skip(f"{multilingual_e5.PACKAGE} is not installed: run 'make multilingual'.")
    place, profile = multilingual_e5.prepare(), of_name("multilingual-e5-small")
    plain = OnnxSentences(place, profile)
    shelf, code = ["The seed shelf is in the cellar.", "The gate code is 4711."]
    for model, least in ((plain, 0.7), (centred(plain, profile), -0.2)):
        nothing = model.query("zzxyqk") @ model.passages([shelf, code]).T
        assert all(least < each < least + 0.3 for each in nothing)
    asked = centred(plain, profile).query("Where is the seed shelf?")
    assert asked @ centred(plain, profile).passages([shelf])[0] > 0.5
