"""The vector of a text, as it is stored beside the text.

A model that fails, or is busy, fails no writing: the item is written without a vector and found by
its words, until ``backfill.py`` makes up for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gateway.contract import Embedder
from gateway.toolkit.vectors import embed_parts
from plugins.workflows.store.item_texts import head_and_body

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from structlog.typing import FilteringBoundLogger

EMBED_TIMEOUT_S = 5.0
"""Seconds that a writer waits for a vector: the model may be busy with a whole index."""

Embed: TypeAlias = Callable[[str], Awaitable[tuple[str | None, bytes | None]]]
"""``await embed(text)``: what identifies the model, and the vector; None and None without one."""


def make_embed(embedder: Embedder | None, log: FilteringBoundLogger | None = None) -> Embed:
    """A function that gives the model and the vector of one text.

    Args:
        embedder: the portal's model, or None.
        log: where a failing model is told of; the process's own logger where it is None.

    Returns:
        A function that never raises for the model's sake: a model that fails gives None and
        None, and a line in the log.
    """

    async def embed(text: str) -> tuple[str | None, bytes | None]:
        if embedder is None:
            return None, None
        try:
            async with asyncio.timeout(EMBED_TIMEOUT_S):
                (vector,) = await embed_texts(embedder, [text])
            return embedder.model, vector
        except Exception as error:
            log_model_failure(log, "workflows_not_embedded", error)
            return None, None

    return embed


async def embed_texts(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    """The vectors of texts of ``store/item_texts.py``: float32, little endian, of length one.

    Each is the middle of two, where there are two: that of the head, what an item is called and
    says of itself, and that of the body, what there is inside. One vector of the whole text finds
    fewer paraphrased tasks: what is inside drowns what the item is.
    """
    parts = [[each for each in head_and_body(text) if each] or [""] for text in texts]
    return [vector_to_bytes(vector) for vector in await embed_parts(embedder, parts)]


def vector_to_bytes(vector: NDArray[np.float32]) -> bytes:
    """A vector as it is stored."""
    return vector.astype("<f4").tobytes()


def vector_from_bytes(stored: bytes) -> NDArray[np.float32]:
    """A stored vector."""
    import numpy as np

    return np.frombuffer(stored, dtype="<f4")


def log_model_failure(log: FilteringBoundLogger | None, event: str, error: Exception) -> None:
    """Say in the log that the model failed."""
    if log is None:
        import structlog

        log = structlog.get_logger(__name__)
    log.warning(event, reason=str(error) or type(error).__name__)
