"""Weights in 8 bits are near what they were, and so is what is multiplied with them."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from onnx import TensorProto, helper, numpy_helper

from gateway.services.embedding.quantisation import BLOCK, blocks, save_int8, save_int8_blocks

OUTLIER = 3000.0
"""How much larger than the others a few numbers of a text's vectors are in some models."""


@given(
    arrays.arrays(
        np.float32, (2 * BLOCK, 3), elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
    )
)
def test_each_weight_is_off_by_half_a_step_at_most(weights: np.ndarray) -> None:
    whole, scales = blocks(weights)
    back = (whole.astype(np.float32) - 128) * scales[..., None]
    off = np.abs(back.reshape(3, -1).T - weights)
    assert (off <= np.repeat(scales.T, BLOCK, axis=0) * 0.501).all()


def test_zeros_stay_zeros() -> None:
    whole, scales = blocks(np.zeros((BLOCK, 1), dtype=np.float32))
    assert (whole == 128).all()
    assert np.isfinite(scales).all()


def multiplied(weights: np.ndarray) -> onnx.ModelProto:
    """A model that multiplies what it is given."""
    inner, columns = weights.shape
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "product")],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", inner))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", columns))],
        [numpy_helper.from_array(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def test_a_few_large_numbers_leave_the_small_ones_what_they_are_in_blocks(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(16 * BLOCK, 32)).astype(np.float32)
    weights[0] = 0  # what is large says nothing, so that all the rest says is lost or kept
    x = rng.normal(size=(8, 16 * BLOCK)).astype(np.float32)
    x[:, 0] = OUTLIER
    off = {}
    for save in (save_int8, save_int8_blocks):
        file = tmp_path / f"{save.__name__}.onnx"
        save(multiplied(weights), file)
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        [found] = session.run(None, {"x": x})
        wanted = x @ weights
        off[save] = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    assert off[save_int8_blocks] < 0.3
    assert off[save_int8] > 0.6
