"""Write a BERT sentence encoder as an ONNX graph, from its weights alone.

The usual exporters need the training framework (several gigabytes). A BERT encoder is a dozen
kinds of operation, so the graph is written here node by node with ``onnx`` and ``numpy``: token,
position and segment embeddings, then per layer self-attention and a feed-forward block, then the
mean over the real tokens, scaled to length one (Devlin et al., 2018; Reimers and Gurevych, 2019).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Array = NDArray[Any]

OPSET = 20
"""The ONNX operator set: the first with Gelu as one operation."""

IR_VERSION = 9
"""The file format version that goes with the operator set."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""The graph's inputs, int64 of shape (texts, tokens), named as everywhere in the BERT family."""

OUTPUT = "sentence_embedding"
"""The graph's output, float32 of shape (texts, hidden_size), rows of length one."""


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes that a BERT ``config.json`` states.

    Attributes:
        layers: how many encoder layers.
        heads: attention heads per layer.
        hidden: the length of a token's vector, a multiple of ``heads``.
        epsilon: the small number that keeps layer normalisation from dividing by zero.
    """

    layers: int
    heads: int
    hidden: int
    epsilon: float

    @classmethod
    def read(cls, config: Path) -> BertShape:
        """Read the sizes from a Hugging Face ``config.json``."""
        values = json.loads(config.read_bytes())
        return cls(
            layers=values["num_hidden_layers"],
            heads=values["num_attention_heads"],
            hidden=values["hidden_size"],
            epsilon=values["layer_norm_eps"],
        )


def read_safetensors(path: Path) -> dict[str, Array]:
    """Read every tensor of a safetensors file: name to array, read-only views of the file.

    The format is an 8-byte little-endian length, a JSON header of that length and the raw data.
    """
    kinds = {"F32": np.float32, "I64": np.int64}
    raw = np.memmap(path, mode="r")
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    header = json.loads(raw[8:start].tobytes())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = raw[start + begin : start + end].view(kinds[entry["dtype"]])
        tensors[name] = data.reshape(entry["shape"])
    return tensors


class Graph:
    """Nodes and constants as they are added; every method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {}

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant under a name."""
        self.constants[name] = np.ascontiguousarray(value, dtype=dtype)
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one result."""
        return self.add_many(kind, 1, *inputs, **attributes)[0]

    def add_many(self, kind: str, results: int, *inputs: str, **attributes: Any) -> list[str]:
        """Add a node of several results."""
        from onnx import helper

        names = [f"{kind}_{len(self.nodes)}_{index}" for index in range(results)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, names[0], **attributes))
        return names


class Bert:
    """The parts of the encoder, each method one block of the original description.

    Args:
        shape: the sizes of the model.
        weights: its tensors, named as Hugging Face's ``BertModel`` names them.

    Attributes:
        inputs: the names of the graph's inputs.
        graph: what was written so far.
    """

    inputs: ClassVar[tuple[str, ...]] = INPUTS

    def __init__(self, shape: BertShape, weights: Mapping[str, Array]) -> None:
        self.shape = shape
        self.weights = weights
        self.graph = Graph()

    def linear(self, x: str, *names: str) -> str:
        """One or several dense layers of the same input, side by side in one multiplication."""
        weight = np.concatenate([self.weights[f"{name}.weight"] for name in names]).T
        bias = np.concatenate([self.weights[f"{name}.bias"] for name in names])
        graph = self.graph
        product = graph.add("MatMul", x, graph.constant(f"{names[0]}.weight", weight))
        return graph.add("Add", product, graph.constant(f"{names[0]}.bias", bias))

    def normalise(self, x: str, name: str) -> str:
        """A layer normalisation."""
        graph = self.graph
        scale = graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        shift = graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        epsilon = self.shape.epsilon
        return graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=epsilon)

    def embeddings(self) -> str:
        """What the tokens are at first: their words, places and segments."""
        graph = self.graph
        tables = {
            kind: graph.constant(kind, self.weights[f"embeddings.{kind}.weight"])
            for kind in ("word_embeddings", "position_embeddings", "token_type_embeddings")
        }
        axis = graph.constant("token_axis", [1], np.int64)
        zero = graph.constant("first_position", [0], np.int64)
        tokens = graph.add("Shape", "input_ids", start=1, end=2)
        positions = graph.add("Slice", tables["position_embeddings"], zero, tokens, zero)
        words = graph.add("Gather", tables["word_embeddings"], "input_ids")
        segments = graph.add("Gather", tables["token_type_embeddings"], "token_type_ids")
        placed = graph.add("Add", words, graph.add("Unsqueeze", positions, zero))
        self.axis = axis
        return self.normalise(graph.add("Add", placed, segments), "embeddings.LayerNorm")

    def attention_bias(self) -> str:
        """Zero for real tokens and a large negative number for padding: (texts, 1, 1, tokens)."""
        graph = self.graph
        mask = graph.add("Cast", "attention_mask", to=1)
        self.mask = graph.add("Unsqueeze", mask, graph.constant("last_axis", [2], np.int64))
        axes = graph.constant("head_and_query_axes", [1, 2], np.int64)
        padding = graph.add("Sub", graph.constant("one", 1.0), graph.add("Unsqueeze", mask, axes))
        return graph.add("Mul", padding, graph.constant("never", -10000.0))

    def attention(self, x: str, bias: str, layer: str) -> str:
        """What the tokens take over from each other."""
        graph, shape = self.graph, self.shape
        size = shape.hidden // shape.heads
        names = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        split = graph.constant("by_head", [0, 0, 3 * shape.heads, size], np.int64)
        joined = graph.constant("joined", [0, 0, shape.hidden], np.int64)
        parts = graph.add("Reshape", self.linear(x, *names), split)
        heads = graph.add("Transpose", parts, perm=[0, 2, 1, 3])
        query, key, value = graph.add_many("Split", 3, heads, axis=1, num_outputs=3)
        scale = graph.constant("scale", size**-0.5)
        turned = graph.add("Transpose", key, perm=[0, 1, 3, 2])
        scores = graph.add("MatMul", graph.add("Mul", query, scale), turned)
        shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self.linear(graph.add("Reshape", mixed, joined), f"{layer}.attention.output.dense")

    def feed_forward(self, x: str, layer: str) -> str:
        """What each token is made into by itself."""
        inner = self.graph.add("Gelu", self.linear(x, f"{layer}.intermediate.dense"))
        return self.linear(inner, f"{layer}.output.dense")

    def encode(self) -> str:
        """All layers, one after the other."""
        graph = self.graph
        x, bias = self.embeddings(), self.attention_bias()
        for number in range(self.shape.layers):
            layer = f"encoder.layer.{number}"
            attended = graph.add("Add", x, self.attention(x, bias, layer))
            x = self.normalise(attended, f"{layer}.attention.output.LayerNorm")
            refined = graph.add("Add", x, self.feed_forward(x, layer))
            x = self.normalise(refined, f"{layer}.output.LayerNorm")
        return x

    def pool(self, x: str) -> None:
        """The mean over the real tokens, scaled to length one.

        Scaling makes the division by the number of tokens needless: a sum and a mean point the
        same way.
        """
        graph = self.graph
        total = graph.add("ReduceSum", graph.add("Mul", x, self.mask), self.axis, keepdims=0)
        graph.add("LpNormalization", total, axis=-1, p=2)
        graph.nodes[-1].output[0] = OUTPUT


def build(shape: BertShape, weights: Mapping[str, Array], encoder: type[Bert] = Bert) -> ModelProto:
    """Build the float32 graph of a sentence encoder.

    Args:
        shape: the sizes of the model.
        weights: its tensors, as the encoder names them.
        encoder: what writes the graph.

    Returns:
        A checked ONNX model with the encoder's inputs and :data:`OUTPUT`.

    Raises:
        KeyError: a tensor that the sizes ask for is missing.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    bert = encoder(shape, weights)
    bert.pool(bert.encode())
    wire = ("texts", "tokens")
    graph = helper.make_graph(
        bert.graph.nodes,
        "bert_sentence_encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, wire) for name in bert.inputs],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ("texts", shape.hidden))],
        [numpy_helper.from_array(value, name) for name, value in bert.graph.constants.items()],
    )
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model
