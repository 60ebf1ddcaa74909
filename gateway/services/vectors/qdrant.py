"""The grown vector store: a Qdrant cluster, through qdrant-client's REST interface."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gateway.contract.services import (
    CollectionSpec,
    Condition,
    Hit,
    Point,
    Sparse,
    Stored,
    VectorQuery,
)
from gateway.services.vectors.store import (
    ID_FIELD,
    VectorsUnavailable,
    check_condition,
    check_name,
    point_uuid,
    stored,
    stored_payload,
    typed_values,
)

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.models import Filter, QueryRequest

BATCH_POINTS = 128
"""Points in one request: about half a megabyte of JSON with 384 dimensions."""

WALKED_POINTS = 1000
"""Points that a walk reads with one request."""

TIMEOUT_SECONDS = 30

_IDENTITY = "identity"


class QdrantVectors:
    """A vector store in a Qdrant cluster, or whatever else the client speaks to.

    Args:
        client: the open client; the store closes it.
    """

    own = False

    def __init__(self, client: AsyncQdrantClient) -> None:
        self._client = client

    @classmethod
    def connect(cls, url: str, api_key: str | None = None) -> QdrantVectors:
        """A store at this address; the first call connects.

        The client's own version check is off: it would connect while the portal is starting.
        """
        from qdrant_client import AsyncQdrantClient

        client = AsyncQdrantClient(
            url=url, api_key=api_key, timeout=TIMEOUT_SECONDS, check_compatibility=False
        )
        return cls(client)

    async def collection(self, name: str, spec: CollectionSpec) -> QdrantCollection:
        """Open a collection, made if it is not there; one with another spec is made anew.

        Raises:
            VectorsUnavailable: the cluster does not answer, or refuses.
        """
        check_name(name)
        with _reported():
            identity = await self._identity(name, spec)
            if identity is None:
                identity = secrets.token_hex(8)
                await self._client.delete_collection(name)
                await self._create(name, spec, identity)
            await self._index(name, spec)
        return QdrantCollection(self._client, name, identity)

    async def ready(self) -> None:
        """As in the port."""
        with _reported():
            await self._client.collection_exists("porch")

    async def drop(self, name: str) -> None:
        """Remove a collection and all its points; an absent one is not an error."""
        check_name(name)
        with _reported():
            await self._client.delete_collection(name)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _identity(self, name: str, spec: CollectionSpec) -> str | None:
        """The stored collection's identity; None where it has not the vectors of the spec.

        It is kept in the collection's metadata, which Qdrant has since 1.16.
        """
        if not await self._client.collection_exists(name):
            return None
        found = await self._client.get_collection(name)
        vectors: Any = found.config.params.vectors or {}
        dense = {key: value.size for key, value in vectors.items()}
        sparse = set(found.config.params.sparse_vectors or {})
        fits = (dense, sparse) == (dict(spec.dense), set(spec.sparse))
        return (found.config.metadata or {}).get(_IDENTITY) if fits else None

    async def _create(self, name: str, spec: CollectionSpec, identity: str) -> None:
        from qdrant_client import models

        sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
        await self._client.create_collection(
            name,
            vectors_config={
                key: models.VectorParams(size=size, distance=models.Distance.COSINE)
                for key, size in spec.dense.items()
            },
            sparse_vectors_config=dict.fromkeys(spec.sparse, sparse),
            metadata={_IDENTITY: identity},
        )

    async def _index(self, name: str, spec: CollectionSpec) -> None:
        """Make the payload indexes that are not there yet; a crash may have left some out."""
        from qdrant_client import models

        present = (await self._client.get_collection(name)).payload_schema or {}
        for key, kind in spec.indexed.items():
            if key not in present:
                schema = models.PayloadSchemaType(kind)
                await self._client.create_payload_index(name, key, schema, wait=True)


class QdrantCollection:
    """A collection of the cluster.

    Args:
        client: the store's client.
        name: the collection's name in the cluster.
        identity: made with the collection, kept in its metadata.
    """

    def __init__(self, client: AsyncQdrantClient, name: str, identity: str) -> None:
        self.identity = identity
        self._client = client
        self._name = name

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one with an id already stored is replaced whole.

        Raises:
            ValueError: a payload uses the reserved field.
            VectorsUnavailable: the cluster does not answer, or refuses a point.
        """
        for start in range(0, len(points), BATCH_POINTS):
            batch = [_stored(point) for point in points[start : start + BATCH_POINTS]]
            with _reported():
                await self._client.upsert(self._name, batch, wait=True)

    async def delete(self, where: Sequence[Condition]) -> None:
        """Remove the points for which all conditions hold; no condition removes nothing."""
        found = _filter(where)
        if found is not None:
            with _reported():
                await self._client.delete(self._name, points_selector=found, wait=True)

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """Answer several questions in one request, best hit first, one list for each question."""
        requests = [_request(query) for query in queries]
        with _reported():
            answers = await self._client.query_batch_points(self._name, requests)
        return [[_hit(point) for point in answer.points] for answer in answers]

    async def count(self, where: Sequence[Condition] = ()) -> int:
        """How many points satisfy the conditions."""
        with _reported():
            found = await self._client.count(self._name, count_filter=_filter(where), exact=True)
        return int(found.count)

    async def walk(self, payload: Sequence[str] = ()) -> AsyncIterator[Stored]:
        """Every point, with these payload fields, in no fixed order."""
        offset: Any = None
        while True:
            with _reported():
                found, offset = await self._client.scroll(
                    self._name,
                    limit=WALKED_POINTS,
                    offset=offset,
                    with_payload=[ID_FIELD, *payload],
                )
            for point in found:
                yield stored(point.payload)
            if offset is None:
                return

    async def flush(self) -> None:
        """Nothing to do: every write was awaited, and the cluster optimises by itself."""


@contextmanager
def _reported() -> Iterator[None]:
    """Turn what the client raises into the one error that the admin reads."""
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except ApiException as error:
        raise VectorsUnavailable(
            f"The Qdrant cluster did not do what it was asked: {error}. "
            "Check the address in services.vectors and that the cluster is up."
        ) from error


def _stored(point: Point) -> Any:
    from qdrant_client.models import PointStruct

    vectors = {**point.dense, **point.sparse}
    return PointStruct(
        id=point_uuid(point.id),
        vector={name: _vector(vector) for name, vector in vectors.items()},
        payload=stored_payload(point),
    )


def _vector(vector: Any) -> Any:
    from qdrant_client.models import SparseVector

    if isinstance(vector, Sparse):
        return SparseVector(indices=list(vector.indices), values=list(vector.values))
    return [float(value) for value in vector]


def _request(query: VectorQuery) -> QueryRequest:
    from qdrant_client.models import QueryRequest

    return QueryRequest(
        query=_vector(query.vector),
        using=query.using,
        filter=_filter(query.where),
        limit=query.limit,
        with_payload=[ID_FIELD, *query.payload],
    )


def _filter(where: Sequence[Condition]) -> Filter | None:
    from qdrant_client.models import FieldCondition, Filter, MatchAny, Range

    must: list[Any] = []
    for condition in where:
        check_condition(condition)
        if condition.any_of is not None:
            groups = [MatchAny(any=group) for group in typed_values(condition)]
            either = [FieldCondition(key=condition.field, match=group) for group in groups]
            must.append(Filter(should=either))
        if condition.at_least is not None or condition.at_most is not None:
            bounds = Range(gte=condition.at_least, lte=condition.at_most)
            must.append(FieldCondition(key=condition.field, range=bounds))
    return Filter(must=must) if must else None


def _hit(found: Any) -> Hit:
    payload = dict(found.payload or {})
    return Hit(payload.pop(ID_FIELD), float(found.score), payload)
