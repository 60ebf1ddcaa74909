"""The vector of an entry that is written: the client's own, or one of the portal's model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.knowledge.memory.entries import Layer
from plugins.knowledge.memory.failures import ErrorCode, MemoryFailed
from plugins.knowledge.memory.layers.stored import WITH_VECTORS
from plugins.knowledge.memory.vectors import MemoryVectors

if TYPE_CHECKING:
    from plugins.knowledge.memory.vectors import Vector


async def embedded(
    vectors: MemoryVectors | None,
    text: str,
    layer: Layer,
    given: tuple[float, ...] | None,
    generate: bool | None,
) -> Vector | None:
    """The vector of a text, or None where it gets none.

    Args:
        vectors: the vector store, or None where the portal has no model.
        text: what is embedded.
        layer: where the entry goes; it decides where ``generate`` is None.
        given: the client's own vector.
        generate: whether the client wants one.

    Raises:
        MemoryFailed: the given one does not fit the model, or none can be made.
    """
    if given is not None:
        return _fitting(vectors, given)
    if not is_made(layer, given, generate):
        return None
    if vectors is None:
        if generate:
            raise MemoryFailed(
                ErrorCode.EMBEDDING_FAILED,
                "This portal has no embedding model. Leave generate_embedding out.",
            )
        return None
    try:
        return (await vectors.embed([text]))[0]
    except Exception as error:
        raise MemoryFailed(
            ErrorCode.EMBEDDING_FAILED,
            "The entry could not be embedded, and was not kept. Try again in a minute.",
        ) from error


def is_made(layer: Layer, given: tuple[float, ...] | None, generate: bool | None) -> bool:
    """Whether the portal's model makes an entry's vector; the arguments are those of above."""
    return given is None and (layer in WITH_VECTORS if generate is None else generate)


def _fitting(vectors: MemoryVectors | None, given: tuple[float, ...]) -> Vector:
    """A client's vector, at length one."""
    import numpy as np

    if vectors is None:
        raise MemoryFailed(
            ErrorCode.EMBEDDING_FAILED,
            "This portal has no embedding model to compare vectors by. Leave embedding out.",
        )
    model, expected = vectors.embedder.model, vectors.embedder.dimensions
    if len(given) != expected:
        raise MemoryFailed(
            ErrorCode.EMBEDDING_FAILED,
            f"The embedding has {len(given)} numbers; those of the portal's model {model} have "
            f"{expected}. Leave it out, and the portal makes one.",
            {"expected": expected, "given": len(given)},
        )
    vector = np.asarray(given, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0.0:
        raise MemoryFailed(
            ErrorCode.EMBEDDING_FAILED,
            "The embedding has no direction: its length is no number > 0.",
        )
    return vector / np.float32(length)
