"""The ONNX writer for MPNet against the same model computed with numpy alone."""

from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from gateway.services.embedding.bert_onnx import build
from gateway.services.embedding.mpnet_onnx import Mpnet, bucket
from tests.gateway.services.embedding.reference_encoder import Names, encoded, norm
from tests.gateway.services.embedding.tiny_models import TINY, tiny_mpnet_weights

MPNET = Names("attn.q", "attn.k", "attn.v", "attn.o", "LayerNorm")


def reference(tokens: list[int], w: dict[str, Any]) -> Any:
    """One text through the encoder."""
    places = np.arange(len(tokens))
    kinds = [[bucket(int(other - place)) for other in places] for place in places]
    positions = w["embeddings.position_embeddings.weight"][2 + places]
    x = norm(w["embeddings.word_embeddings.weight"][tokens] + positions, "embeddings.LayerNorm", w)
    return encoded(x, w, MPNET, w["encoder.relative_attention_bias.weight"][np.array(kinds)])


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_computes_what_numpy_computes_and_padding_changes_nothing(seed: int) -> None:
    weights = tiny_mpnet_weights(seed)
    model = build(TINY, weights, Mpnet).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    texts = [[2, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9, 4, 5, 3], [2, 8, 4, 9, 5, 3], [2, 3]]
    ids = np.zeros((3, 16), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(texts):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    [vectors] = session.run(None, {"input_ids": ids, "attention_mask": mask})
    expected = np.stack([reference(tokens, weights) for tokens in texts])
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


def test_near_distances_are_kinds_of_their_own_and_far_ones_share_one() -> None:
    assert [bucket(-one) for one in range(8)] == list(range(8))
    assert [bucket(one) for one in (1, 7, 8, 16, 32, 64)] == [17, 23, 24, 26, 28, 30]
    assert {bucket(-one) for one in range(128, 512)} == {15}
    assert {bucket(one) for one in range(128, 512)} == {31}


def test_distances_keep_their_order() -> None:
    behind = [bucket(one) for one in range(1, 512)]
    before = [bucket(-one) for one in range(512)]
    assert behind == sorted(behind)
    assert before == sorted(before)
