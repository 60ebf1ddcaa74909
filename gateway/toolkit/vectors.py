"""Vectors of texts that are embedded in several parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.contract import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


async def embed_parts(embedder: Embedder, texts: Sequence[Sequence[str]]) -> list[Vector]:
    """One vector for each text: the middle of those of its parts.

    A model reads the first few hundred words of a text. Where a name and what is inside would
    drown each other, two short parts find more than one long text.

    Args:
        embedder: the portal's model.
        texts: the parts of each text, at least one.
    """
    found = iter(await embedder.passages([part for parts in texts for part in parts]))
    return [middle([next(found) for _ in parts]) for parts in texts]


def middle(vectors: Sequence[Vector]) -> Vector:
    """The direction between some vectors, at length one; nothing is between opposite ones."""
    total = sum(vectors[1:], start=vectors[0])
    length = float((total @ total) ** 0.5)
    return total / length if length else total
