"""The vector of an entry that is written: given by the client, or made by the portal's model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.knowledge.memory.model.entry import LAYERS_WITH_VECTORS
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.store.vectors import MemoryVectors

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.vectors import Vector

MIN_COSINE = 0.99
"""The cosine from which on a client's vector is that of the text: rounding changes no more. At .9
one could still be bent far towards a question of one's choice."""


async def entry_vector(
    vectors: MemoryVectors | None,
    record: Record,
    given: tuple[float, ...] | None,
    generate: bool | None,
) -> Vector | None:
    """The vector of an entry, or None where it gets none.

    A client's own vector may say anything: it is taken as it is where its owner alone is to read
    the entry. For others it must be what the portal's model makes of the text, and that is kept.

    Args:
        vectors: the vector store, or None where the portal has no model.
        record: the entry; its layer decides where ``generate`` is None.
        given: the client's own vector.
        generate: whether the client wants one.

    Raises:
        MemoryFailed: the given one does not fit the model or the text, or none can be made.
    """
    own = None if given is None else _normalized(vectors, given)
    if not is_generated(record, given, generate):
        return own
    made = await _generated(vectors, record.text, generate)
    if own is not None and (made is None or float(own @ made) < MIN_COSINE):
        raise MemoryFailed(
            ErrorCode.EMBEDDING_FAILED,
            "The embedding is not that of the entry's text by the portal's model, and others are "
            "to find the entry by it. Leave it out, and the portal makes one.",
        )
    return made


async def _generated(
    vectors: MemoryVectors | None, text: str, generate: bool | None
) -> Vector | None:
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


def is_generated(record: Record, given: tuple[float, ...] | None, generate: bool | None) -> bool:
    """Whether the portal's model makes an entry's vector; the arguments are those of above."""
    if given is not None:
        return record.readers != {person_key(record.owner)}
    return record.layer in LAYERS_WITH_VECTORS if generate is None else generate


def _normalized(vectors: MemoryVectors | None, given: tuple[float, ...]) -> Vector:
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
