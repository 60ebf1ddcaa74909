"""A text of several parts lies between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.toolkit.vectors import embed_parts, middle

KNOWN = {"north": (0.0, 1.0), "east": (1.0, 0.0)}


class Compass:
    """A model that knows two words."""

    model, dimensions = "compass", 2

    def __init__(self) -> None:
        self.asked: list[Sequence[str]] = []

    async def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(texts)
        return np.array([KNOWN[text] for text in texts], np.float32)


async def test_all_parts_are_embedded_at_once() -> None:
    model = Compass()
    vectors = await embed_parts(model, [["north", "east"], ["east"], ["north", "north"]])  # type: ignore[arg-type]
    assert model.asked == [["north", "east", "east", "north", "north"]]
    half = 0.5**0.5
    assert np.stack(vectors) == pytest.approx(np.array([[half, half], [1, 0], [0, 1]]))


def test_opposite_directions_have_no_middle() -> None:
    north = np.array([0, 1], np.float32)
    assert list(middle([north, -north])) == [0, 0]
