"""``porch`` whose model reads each body once: ``python -m benchmarks.near_vectors serve ...``.

A base of 100,000 documents would keep the model busy for half an hour, and what is measured is
the search in it. So a text that differs from one before in its title alone gets that one's
vector, turned a little at random; every other text, and every question, goes to the real model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gateway.cli.program import main
from gateway.services.embedding.service import ThreadedEmbedder

if TYPE_CHECKING:
    from gateway.contract.services import Matrix, Vector

COSINE = 0.95
"""How near a turned vector is to the one that it was made from."""
_real = ThreadedEmbedder.passages
_known: dict[str, Vector] = {}


async def passages(self: ThreadedEmbedder, texts: Sequence[str]) -> Matrix:
    """Vectors of stored texts, as ``ThreadedEmbedder.passages`` gives them.

    Args:
        self: the real model.
        texts: in any order.
    """
    bodies = {text: _body(text) for text in texts}
    new = list({body: text for text, body in bodies.items() if body not in _known}.values())
    made = dict(zip(new, await _real(self, new), strict=True)) if new else {}
    _known.update({bodies[text]: vector for text, vector in made.items()})
    return np.stack(
        [made[text] if text in made else _turned(_known[bodies[text]], text) for text in texts]
    )


def _body(text: str) -> str:
    """A passage without the line of its title, or a head without its title."""
    title, _, body = text.partition("\n" if "\n" in text else ". ")
    return body or title


def _turned(vector: Vector, text: str) -> Vector:
    """A unit vector at ``COSINE`` from another, always the same for a text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    aside = np.random.default_rng(seed).normal(size=vector.shape)
    aside -= (aside @ vector) * vector
    aside *= np.sqrt(1 - COSINE**2) / np.linalg.norm(aside)
    return (COSINE * vector + aside).astype(np.float32)


if __name__ == "__main__":
    ThreadedEmbedder.passages = passages  # type: ignore[method-assign]
    main(prog_name="porch")
