"""Encoders of the BERT family computed with numpy alone, as their authors describe them."""

import math
from typing import Any, NamedTuple

import numpy as np

from tests.gateway.services.embedding.tiny_models import TINY

erf = np.vectorize(math.erf)


class Names(NamedTuple):
    """What the parts of a layer's attention are called.

    Attributes:
        query: what asks; ``key`` and ``value`` are what is asked and what is taken over.
        output: what is made of the heads together.
        norm: the normalisation after it.
    """

    query: str
    key: str
    value: str
    output: str
    norm: str


def dense(x: Any, name: str, w: dict[str, Any]) -> Any:
    """A dense layer."""
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def norm(x: Any, name: str, w: dict[str, Any]) -> Any:
    """A layer normalisation."""
    scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + TINY.epsilon)
    return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]


def encoded(x: Any, w: dict[str, Any], names: Names, heeded: Any = None) -> Any:
    """The vector of one text.

    Args:
        x: its tokens at first, of shape (tokens, hidden).
        w: the weights.
        names: of the parts.
        heeded: how much each head heeds each pair of tokens beforehand, of shape (tokens, tokens,
            heads).
    """
    size = TINY.hidden // TINY.heads
    for number in range(TINY.layers):
        layer = f"encoder.layer.{number}"
        q, k, v = (dense(x, f"{layer}.attention.{part}", w) for part in names[:3])
        heads = []
        for head in range(TINY.heads):
            part = slice(head * size, (head + 1) * size)
            beforehand = 0 if heeded is None else heeded[:, :, head]
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size) + beforehand)
            heads.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        attended = dense(np.concatenate(heads, axis=1), f"{layer}.attention.{names.output}", w)
        x = norm(x + attended, f"{layer}.attention.{names.norm}", w)
        inner = dense(x, f"{layer}.intermediate.dense", w)
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{layer}.output.dense", w), f"{layer}.output.LayerNorm", w)
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)
