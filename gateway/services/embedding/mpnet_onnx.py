"""Write an MPNet sentence encoder as an ONNX graph.

MPNet is BERT without segments, and with a bias of attention by the distance of two tokens that all
layers share (Song et al., "MPNet: Masked and Permuted Pre-training", 2020; the buckets of
distances are those of T5, Raffel et al., 2020).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gateway.services.embedding.bert_onnx import INPUTS, Bert

BUCKETS = 32
"""How many kinds of distance there are, half of them for what stands behind."""

FAR = 128
"""Tokens from which on all distances are alike."""

FIRST_POSITION = 2
"""The place of the first token in the table of positions: those before it are for padding."""

_NAMES = {
    "attention.self.query": "attention.attn.q",
    "attention.self.key": "attention.attn.k",
    "attention.self.value": "attention.attn.v",
    "attention.output.dense": "attention.attn.o",
    "attention.output.LayerNorm": "attention.LayerNorm",
}
"""What BERT's tensors are called here; the others have the same names."""


class Mpnet(Bert):
    """The parts of the encoder that differ from BERT's.

    Its weights are named as Hugging Face's ``MPNetModel`` names them.
    """

    inputs: ClassVar[tuple[str, ...]] = INPUTS[:2]

    def linear(self, x: str, *names: str) -> str:
        """One or several dense layers of the same input, side by side."""
        return super().linear(x, *map(_own_name, names))

    def normalise(self, x: str, name: str) -> str:
        """A layer normalisation."""
        return super().normalise(x, _own_name(name))

    def embeddings(self) -> str:
        """Words and positions; there are no segments."""
        graph = self.graph
        table = self.weights["embeddings.position_embeddings.weight"][FIRST_POSITION:]
        self.longest = len(table)
        words = graph.constant("words", self.weights["embeddings.word_embeddings.weight"])
        self.axis = graph.constant("token_axis", [1], np.int64)
        zero = graph.constant("first_position", [0], np.int64)
        self.tokens = graph.add("Shape", "input_ids", start=1, end=2)
        places = graph.add("Slice", graph.constant("places", table), zero, self.tokens, zero)
        placed = graph.add("Unsqueeze", places, zero)
        found = graph.add("Gather", words, "input_ids")
        return self.normalise(graph.add("Add", found, placed), "embeddings.LayerNorm")

    def attention_bias(self) -> str:
        """What BERT's masks, and how much each head heeds each distance."""
        masked, graph = super().attention_bias(), self.graph
        first = graph.constant("first_axis", [0], np.int64)
        second = graph.constant("second_axis", [1], np.int64)
        nothing, step = (graph.constant(f"number_{one}", one, np.int64) for one in (0, 1))
        places = graph.add("Range", nothing, graph.add("Squeeze", self.tokens), step)
        ahead = graph.add(
            "Sub", graph.add("Unsqueeze", places, first), graph.add("Unsqueeze", places, second)
        )
        table = graph.constant("by_distance", self._by_distance())
        rows = graph.add("Add", ahead, graph.constant("no_distance", self.longest - 1, np.int64))
        heeded = graph.add("Transpose", graph.add("Gather", table, rows), perm=[2, 0, 1])
        return graph.add("Add", masked, graph.add("Unsqueeze", heeded, first))

    def _by_distance(self) -> NDArray[Any]:
        """The bias of every head for each distance, from the farthest before to that behind."""
        table = self.weights["encoder.relative_attention_bias.weight"]
        return np.stack([table[bucket(one)] for one in range(1 - self.longest, self.longest)])


def bucket(distance: int) -> int:
    """The kind of a distance: near ones each have their own, far ones share one by logarithm.

    Args:
        distance: how many tokens the other one stands behind; negative where it stands before.
    """
    half = BUCKETS // 2
    start, far = (half if distance > 0 else 0), abs(distance)
    if far < half // 2:
        return start + far
    steps = math.log(far / (half // 2)) / math.log(FAR / (half // 2)) * (half - half // 2)
    return start + min(half // 2 + int(steps), half - 1)


def _own_name(name: str) -> str:
    layer = next((one for one in _NAMES if name.endswith(one)), None)
    return name if layer is None else name.removesuffix(layer) + _NAMES[layer]
