"""The service ports: what a plugin may ask of the gateway's backends.

Each port is a small Protocol with an embedded and a grown implementation in
``gateway/services/``; one contract suite (``tests/gateway/services/``) runs over all of them.
What a plugin receives is already scoped to it: two plugins that use the same key never meet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    Matrix = NDArray[np.float32]
    """Float32, shape (n, dimensions)."""
    Vector = NDArray[np.float32]
    """Float32, shape (dimensions,), of length one."""


class Database(Protocol):
    """A relational database: SQLite in the data directory, or PostgreSQL."""

    @property
    def engine(self) -> AsyncEngine:
        """The SQLAlchemy engine, opened at first use."""
        ...

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for queries that stand for themselves, without a transaction.

        Each sees what is committed when it begins, and costs no more than itself. Queries that
        must see the same state of things go through ``engine.connect()``; nothing is written here.
        """
        ...

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction: committed at the end of the block, rolled back on an error.

        On SQLite the tasks of a process take turns, in the order in which they asked: keep it
        short, and begin no other one inside it. To read only, use :meth:`read`.
        """
        ...

    async def migrate(self, migrations: Path) -> None:
        """Bring the owner's tables to the newest revision.

        Args:
            migrations: a directory with Alembic ``versions/``. Each owner has its own version
                table, so that plugins are migrated apart from each other.
        """
        ...


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """One stored object: its key, its size in bytes and when it was last written."""

    key: str
    size: int
    modified: datetime


class Objects(Protocol):
    """A store of named byte strings: a folder, or an S3-compatible bucket.

    Keys are ``/``-separated, at most 1,024 bytes; a write is all or nothing.
    """

    async def get(self, key: str) -> bytes | None:
        """The object's bytes, or None where there is no such key."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Write the object whole; a reader sees the old bytes or the new ones, never a mix.

        Raises:
            OSError: the store cannot be written, with ``errno.ENOSPC`` where it is full; the
                old bytes stay.
            ValueError: the key is one that not every store can hold.
        """
        ...

    async def delete(self, *keys: str) -> None:
        """Remove objects, many at once where the store can; an absent key is not an error."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Every object whose key starts with ``prefix``, in no fixed order."""
        ...


class Cache(Protocol):
    """Short-lived bytes and messages, in this process or in Redis; in each while that is away."""

    async def get(self, key: str) -> bytes | None:
        """The value, or None where there is none or it has expired."""
        ...

    async def set(self, key: str, value: bytes, ttl: float | None = None) -> None:
        """Store a value, for ``ttl`` seconds or until it is evicted."""
        ...

    async def delete(self, key: str) -> None:
        """Forget a value; an absent key is not an error."""
        ...

    async def increment(self, key: str, ttl: float) -> int:
        """Add one to a counter that expires ``ttl`` seconds after its first increment."""
        ...

    async def publish(self, channel: str, message: bytes) -> None:
        """Send a message to everyone who listens on the channel now."""
        ...

    def listen(self, channel: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Receive the channel's messages from the moment the block is entered."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors. One model a process, shared by all plugins, off the event loop."""

    @property
    def model(self) -> str:
        """What identifies the model and its precision; vectors of two names never compare."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    async def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed stored texts: float32, shape (len(texts), dimensions), rows of length one."""
        ...

    async def query(self, text: str) -> Vector:
        """Embed one question: float32, shape (dimensions,), of length one."""
        ...


class Reranker(Protocol):
    """A cross-encoder that judges a question and a passage together."""

    @property
    def model(self) -> str:
        """What identifies the model."""
        ...

    async def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers the query, each in 0..1, in the order given."""
        ...


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: parallel tuples of term ids (unsigned 32 bit) and weights."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """What a collection holds, said once when it is opened.

    Attributes:
        dense: named dense vectors and their lengths, compared by cosine.
        sparse: named sparse vectors, weighted by inverse document frequency in the store.
        indexed: payload fields that filters use, each ``keyword``, ``integer`` or ``float``.
    """

    dense: Mapping[str, int] = field(default_factory=dict)
    sparse: tuple[str, ...] = ()
    indexed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """One stored point: an id of the owner's, its vectors and its payload of JSON values."""

    id: str
    dense: Mapping[str, Vector] = field(default_factory=dict)
    sparse: Mapping[str, Sparse] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a payload field; a field that holds a list matches by any of its values.

    Attributes:
        field: the payload field.
        any_of: the values of which one must match, or None.
        at_least: an inclusive lower bound, or None.
        at_most: an inclusive upper bound, or None.
    """

    field: str
    any_of: tuple[str | int, ...] | None = None
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """One nearest-neighbour question.

    Attributes:
        using: the name of the dense or sparse vector to compare with.
        vector: the dense or sparse vector of the question.
        where: the conditions that must all hold.
        limit: how many hits at most.
        payload: the payload fields to return.
    """

    using: str
    vector: Vector | Sparse
    where: tuple[Condition, ...] = ()
    limit: int = 20
    payload: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: the point's id, its score (cosine, or the sparse dot product), its payload.

    A store may keep dense vectors in half precision: a cosine is right to two or three digits.
    """

    id: str
    score: float
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """One point as a walk over all of them finds it: its id and its payload."""

    id: str
    payload: Mapping[str, Any]


class Collection(Protocol):
    """A named set of points."""

    @property
    def identity(self) -> str:
        """Made at random with the collection.

        Who remembers what is in a collection remembers this with it: another identity is that of
        another process's collection, or of one that was lost and made anew.
        """
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one with an id already stored is replaced whole."""
        ...

    async def delete(self, where: Sequence[Condition]) -> None:
        """Remove the points for which all conditions hold; no condition removes nothing."""
        ...

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """Answer several questions in one go, best hit first, one list for each question."""
        ...

    async def count(self, where: Sequence[Condition] = ()) -> int:
        """How many points satisfy the conditions."""
        ...

    def walk(self, payload: Sequence[str] = ()) -> AsyncIterator[Stored]:
        """Every point, with these payload fields, in no fixed order; for comparing, not for search.

        What is written meanwhile may be among them or not.
        """
        ...

    async def flush(self) -> None:
        """Make everything written so far durable and quick to search."""
        ...


class Vectors(Protocol):
    """A vector store: qdrant-edge in the data directory, PostgreSQL with pgvector, or Qdrant."""

    @property
    def own(self) -> bool:
        """Whether no other process of the portal reads or writes it."""
        ...

    async def collection(self, name: str, spec: CollectionSpec) -> Collection:
        """Open a collection, made if it is not there; one with another spec is made anew."""
        ...

    async def drop(self, name: str) -> None:
        """Remove a collection and all its points; an absent one is not an error."""
        ...
