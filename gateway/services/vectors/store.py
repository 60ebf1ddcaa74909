"""The port of a vector store, and what its implementations share.

How sparse vectors are weighted is the same everywhere, so that an index moves from one store to
another: the store multiplies each term of the *question* by its inverse document frequency,
``ln(1 + (N - n + 0.5) / (n + 0.5))`` with N the points that have this sparse vector and n those
of them with the term, over the whole collection and whatever the filter. A score is the sum over
the shared terms of ``question weight * idf * stored weight``. For BM25 the stored weight is thus
``f * (k1 + 1) / (f + k1 * (1 - b + b * length / average))``, and the question's weight is 1.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from typing import Any, Protocol, cast

from gateway.contract.services import (
    Collection,
    CollectionSpec,
    Condition,
    Hit,
    Point,
    Stored,
    VectorQuery,
    Vectors,
)
from gateway.toolkit.spans import is_recording, span

ID_FIELD = "_id"
"""The payload field in which a store keeps the owner's id; owners cannot use it."""

NAMESPACE = uuid.UUID("6f3c1a52-54c1-5e0b-9d0a-1f2b7f6d7a11")
"""The namespace of point ids. Changing it orphans every stored point."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class VectorsUnavailable(Exception):
    """The vector store cannot be used; the message tells the admin why and what to do."""


class VectorStore(Vectors, Protocol):
    """A vector store as the gateway holds it: it can also be closed."""

    async def ready(self) -> None:
        """Return once it answers.

        Raises:
            VectorsUnavailable: it does not.
        """
        ...

    async def close(self) -> None:
        """Make everything durable and let go of files and connections."""
        ...


class OwnedVectors:
    """One owner's view of the store: its collections' names never meet another owner's.

    Args:
        store: the store that all owners share.
        owner: a plugin's name.
    """

    def __init__(self, store: Vectors, owner: str) -> None:
        self._store = store
        self._owner = owner.replace("_", "-")

    @property
    def own(self) -> bool:
        """As ``Vectors.own``."""
        return self._store.own

    async def collection(self, name: str, spec: CollectionSpec) -> Collection:
        """Open the owner's collection of this name."""
        found = await self._store.collection(f"{self._owner}--{name}", spec)
        return cast("Collection", TracedCollection(found)) if is_recording() else found

    async def drop(self, name: str) -> None:
        """Remove the owner's collection of this name."""
        await self._store.drop(f"{self._owner}--{name}")


class TracedCollection:
    """A collection whose searches are spans; only made where traces are exported.

    Args:
        collection: does everything.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """As in the port."""
        with span("search vectors", {"porch.queries": len(queries)}):
            return await self._collection.search(queries)


def check_name(name: str) -> str:
    """The collection's name, which also names a directory.

    Raises:
        ValueError: it is not 1 to 63 lower-case letters, digits, ``-`` or ``_``.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"collection names are lower-case letters, digits, - and _, not {name!r}")
    return name


def point_uuid(owner_id: str) -> str:
    """The UUID of a stored point, made from the owner's id (RFC 9562, version 5)."""
    return str(uuid.uuid5(NAMESPACE, owner_id))


def stored_payload(point: Point) -> dict[str, Any]:
    """A point's payload with the owner's id in it.

    Raises:
        ValueError: the owner uses the reserved field.
    """
    if ID_FIELD in point.payload:
        raise ValueError(f"the payload field {ID_FIELD!r} is the store's own")
    return {**point.payload, ID_FIELD: point.id}


def stored(payload: Any) -> Stored:
    """A point of a walk, from the payload that a store gives: the owner's id is in it."""
    rest = dict(payload or {})
    return Stored(rest.pop(ID_FIELD), rest)


def typed_values(condition: Condition) -> list[list[Any]]:
    """The values of ``any_of``, words apart from numbers, as stores match one type at a time."""
    values = condition.any_of or ()
    words = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if not isinstance(value, str)]
    return [group for group in (words, numbers) if group] or [[]]


def check_condition(condition: Condition) -> None:
    """Refuse an empty condition.

    Raises:
        ValueError: no values and no bounds; as a filter for deletion it would match everything.
    """
    if condition.any_of is None and condition.at_least is None and condition.at_most is None:
        raise ValueError(f"the condition on {condition.field!r} has no values and no bounds")
