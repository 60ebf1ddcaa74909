"""The ONNX writer against the same model computed with numpy alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from gateway.services.embedding.bert_onnx import build, read_safetensors
from tests.gateway.services.embedding.reference_encoder import Names, encoded, norm
from tests.gateway.services.embedding.tiny_models import TINY, tiny_weights

BERT = Names("self.query", "self.key", "self.value", "output.dense", "output.LayerNorm")


def reference(tokens: list[int], w: dict[str, Any]) -> Any:
    """One text through the encoder."""
    tables = {name: w[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position")}
    segment = w["embeddings.token_type_embeddings.weight"][0]
    x = tables["word"][tokens] + tables["position"][: len(tokens)] + segment
    return encoded(norm(x, "embeddings.LayerNorm", w), w, BERT)


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_computes_what_numpy_computes_and_padding_changes_nothing(seed: int) -> None:
    weights = tiny_weights(seed)
    model = build(TINY, weights).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    texts = [[2, 4, 5, 6, 7, 3], [2, 8, 3], [2, 3]]
    ids = np.zeros((3, 6), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(texts):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    [vectors] = session.run(None, feed)
    expected = np.stack([reference(tokens, weights) for tokens in texts])
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


def test_a_missing_tensor_is_named() -> None:
    weights = tiny_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    with pytest.raises(KeyError, match=r"encoder\.layer\.1\.output\.dense\.bias"):
        build(TINY, weights)


def test_safetensors_are_read_with_their_shapes(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype="<f4").reshape(2, 3)
    ids = np.array([[7, 8]], dtype="<i8")
    header = {
        "__metadata__": {"format": "pt"},
        "numbers": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "ids": {"dtype": "I64", "shape": [1, 2], "data_offsets": [24, 40]},
    }
    text = json.dumps(header).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text + numbers.tobytes() + ids.tobytes())
    tensors = read_safetensors(file)
    assert set(tensors) == {"numbers", "ids"}
    np.testing.assert_array_equal(tensors["numbers"], numbers)
    np.testing.assert_array_equal(tensors["ids"], ids)
