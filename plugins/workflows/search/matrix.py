"""Vectors in blocks, so that one more copies none of those before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_ROWS = 1_024
"""Rows of a block. What of a block was never written takes no memory."""


class Matrix:
    """Rows of float32; a row that was never put is zero.

    Args:
        dimensions: the length of a row.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._blocks: list[NDArray[np.float32]] = []

    def put(self, row: int, vector: NDArray[np.float32]) -> None:
        """Write a row."""
        block, place = divmod(row, BLOCK_ROWS)
        while len(self._blocks) <= block:
            self._blocks.append(np.zeros((BLOCK_ROWS, self.dimensions), np.float32))
        self._blocks[block][place] = vector

    def dot(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """The product of each of the first ``rows`` rows with a vector."""
        product = np.zeros(rows, np.float32)
        for number, block in enumerate(self._blocks):
            part = product[number * BLOCK_ROWS : (number + 1) * BLOCK_ROWS]
            np.dot(block[: len(part)], vector, out=part)
        return product
