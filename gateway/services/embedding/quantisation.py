"""Weights in 8 bits, in two ways: a scale for each column, or one for each 64 weights of it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto, NodeProto

BLOCK = 64
"""Weights that share a scale; the inner sizes of all models are multiples of it."""

_MIDDLE = 128
"""The byte that stands for zero."""

_AS_INTEGERS = 4
"""The level of accuracy of ``MatMulNBits`` at which what is multiplied has 8 bits, too."""

_OPERATORS = "com.microsoft"
"""The operators that only onnxruntime has."""


def save_int8(model: ModelProto, target: Path) -> None:
    """Reduce an ONNX model's weights to 8 bits: one scale per column, with a reduced range.

    Per column and with 7 of the 8 bits, because whole matrices lose too much (cosine 0.92) and
    the older x86 instructions overflow with the full range.
    """
    from onnxruntime import quantization  # type: ignore[import-untyped]

    logging.getLogger().addFilter(_is_not_advice)  # the library logs it on the root logger
    try:
        quantization.quantize_dynamic(model, target, per_channel=True, reduce_range=True)
    finally:
        logging.getLogger().removeFilter(_is_not_advice)


def save_int8_blocks(model: ModelProto, target: Path) -> None:
    """Reduce the matrices of an ONNX model to 8 bits, with one scale for 64 weights of a column.

    What is multiplied with them is reduced by blocks, too. It is slower than one scale per column,
    and nearly exact where a few numbers of a text's vectors are far larger than all others: there
    one scale for all leaves the others next to nothing (MPNet: cosine 0.87).

    Args:
        model: the model, in float32; it is changed.
        target: the file.
    """
    import onnx
    from onnx import helper, numpy_helper

    graph = model.graph
    constants = {one.name: one for one in graph.initializer}
    nodes = list(graph.node)
    for place, node in enumerate(nodes):
        if node.op_type != "MatMul" or node.input[1] not in constants:
            continue
        constant = constants[node.input[1]]
        weights = numpy_helper.to_array(constant)
        whole, scales = blocks(weights)
        names = [f"{constant.name}.bytes", f"{constant.name}.scales"]
        nodes[place] = _multiplication(node, weights.shape, names)
        graph.initializer.remove(constant)
        graph.initializer.append(numpy_helper.from_array(whole, names[0]))
        graph.initializer.append(numpy_helper.from_array(scales, names[1]))
    del graph.node[:]
    graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid(_OPERATORS, 1))
    onnx.save(model, target)


def blocks(weights: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The bytes and the scales of a matrix.

    Args:
        weights: of shape (inner, columns).

    Returns:
        Bytes of shape (columns, blocks, :data:`BLOCK`), 128 for zero; and scales of shape
        (columns, blocks).
    """
    rows = np.ascontiguousarray(weights.T).reshape(weights.shape[1], -1, BLOCK)
    scales = np.maximum(np.abs(rows).max(axis=-1) / (_MIDDLE - 1), np.finfo(np.float32).tiny)
    whole = np.rint(rows / scales[..., None]) + _MIDDLE
    return whole.astype(np.uint8), scales.astype(np.float32)


def _multiplication(node: NodeProto, shape: tuple[int, ...], parts: list[str]) -> NodeProto:
    from onnx import helper

    return helper.make_node(
        "MatMulNBits",
        [node.input[0], *parts],
        list(node.output),
        node.name,
        domain=_OPERATORS,
        K=shape[0],
        N=shape[1],
        bits=8,
        block_size=BLOCK,
        accuracy_level=_AS_INTEGERS,
    )


def _is_not_advice(record: logging.LogRecord) -> bool:
    """False for the advice to run a pre-processor, which gains nothing on a graph as plain."""
    return "pre-processing" not in record.getMessage()
