"""The ONNX writer for MPNet against the same model computed with numpy alone."""

import math
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from gateway.services.embedding.bert_onnx import build
from gateway.services.embedding.mpnet_onnx import Mpnet, bucket
from tests.gateway.services.embedding.tiny_models import TINY, tiny_mpnet_weights

erf = np.vectorize(math.erf)


def reference(tokens: list[int], w: dict[str, Any]) -> Any:
    """One text through the encoder, as its authors describe it."""

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + TINY.epsilon)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    places = np.arange(len(tokens))
    kinds = [[bucket(int(other - place)) for other in places] for place in places]
    heeded = w["encoder.relative_attention_bias.weight"][np.array(kinds)]
    positions = w["embeddings.position_embeddings.weight"][2 + places]
    x = norm(w["embeddings.word_embeddings.weight"][tokens] + positions, "embeddings.LayerNorm")
    size = TINY.hidden // TINY.heads
    for number in range(TINY.layers):
        layer = f"encoder.layer.{number}"
        q, k, v = (dense(x, f"{layer}.attention.attn.{part}") for part in "qkv")
        heads = []
        for head in range(TINY.heads):
            part = slice(head * size, (head + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size) + heeded[:, :, head])
            heads.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        attended = dense(np.concatenate(heads, axis=1), f"{layer}.attention.attn.o")
        x = norm(x + attended, f"{layer}.attention.LayerNorm")
        inner = dense(x, f"{layer}.intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


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
