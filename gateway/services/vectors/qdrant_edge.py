"""The embedded vector store: the Qdrant engine in this process (qdrant-edge), in ``data/vectors``.

Measured with version 0.9: every call keeps Python's global lock until it returns. A search takes
0.1 to 0.5 ms at 10,000 points, so it runs where it is; a thread would add a hop and free nobody.
Writes go to one thread, because making the points is Python's work and can be shared fairly.
Building a graph index of 100,000 points would stop the whole portal for a minute, so none is built.
What stands in its place is in ``edge_config.py``.
"""

from __future__ import annotations

import asyncio
import errno
import json
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from gateway.contract.services import (
    CollectionSpec,
    Condition,
    Hit,
    Point,
    Sparse,
    Stored,
    VectorQuery,
)
from gateway.observability.logs import get_logger
from gateway.services.vectors.disk_room import lack_of_room
from gateway.services.vectors.edge_config import config, search_params
from gateway.services.vectors.mapped_files import let_go_of_pages
from gateway.services.vectors.point_ids import PointIds
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
    from qdrant_edge import EdgeShard, Filter, QueryRequest, SearchParams

R = TypeVar("R")

BATCH_POINTS = 128
"""Points in one write: about 5 ms during which nothing else runs."""
WALKED_POINTS = 500
"""Points that a walk reads at a time."""

log = get_logger(__name__)


class StoreInUse(VectorsUnavailable):
    """Another process holds the store; its files must be left alone."""


class EdgeVectors:
    """A vector store in a directory; one process at a time may use it.

    Args:
        directory: one folder a collection, each with its spec and its shard.
    """

    own = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="vectors")
        self._open: dict[str, EdgeCollection] = {}

    async def collection(self, name: str, spec: CollectionSpec) -> EdgeCollection:
        """Open a collection, made if it is not there; one with another spec is made anew.

        Raises:
            VectorsUnavailable: its files are damaged, another process uses them, or less than
                ``RESERVE_BYTES`` are free: the engine writes as it opens.
        """
        check_name(name)
        return await self._write(lambda: self._opened(name, spec))

    async def ready(self) -> None:
        """As in the port: what is embedded is always there."""

    async def drop(self, name: str) -> None:
        """Remove a collection and all its points; an absent one is not an error."""
        check_name(name)
        await self._write(lambda: self._remove(name))

    async def close(self) -> None:
        """Flush and close every collection; the store cannot be used afterwards.

        One that cannot be flushed loses nothing but a quick start; the log has the reason.
        """
        await self._write(self._close_all)
        self._writer.shutdown()

    async def _write(self, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def _opened(self, name: str, spec: CollectionSpec) -> EdgeCollection:
        known = self._open.get(name)
        if known is not None and known.spec == spec:
            return known
        if lack := lack_of_room(self._directory):
            raise VectorsUnavailable(f"The vector index is not opened: {lack}")
        home = self._directory / name
        spec_file = home / "spec.json"
        identity = _identity(spec_file, spec)
        if identity is not None:
            shard = _load(home / "shard", spec)
            let_go_of_pages(home)
        else:
            self._remove(name)
            shard = _create(home / "shard", spec)
            identity = secrets.token_hex(8)
            # Written last: a folder without it was never finished and is made anew.
            draft = home / "spec.json.new"
            draft.write_text(json.dumps({"identity": identity, **asdict(spec)}), encoding="utf-8")
            draft.replace(spec_file)
        self._open[name] = EdgeCollection(shard, spec, identity, self._writer, home)
        return self._open[name]

    def _remove(self, name: str) -> None:
        known = self._open.pop(name, None)
        home = self._directory / name
        if known is not None:
            known.shard.close()
        elif (home / "shard").is_dir():
            _refuse_foreign(home / "shard")
        if home.is_dir():
            (home / "spec.json").unlink(missing_ok=True)
            shutil.rmtree(home)

    def _close_all(self) -> None:
        for name, known in self._open.items():
            try:
                known.shard.flush()
                known.shard.close()
            except Exception:  # on a full disk; the log of writes holds all that was acknowledged
                log.warning("vectors_not_flushed", collection=name, exc_info=True)
        self._open.clear()


class EdgeCollection:
    """A collection in one shard of the engine.

    Args:
        shard: the open shard.
        spec: what it holds.
        identity: made with the collection, kept with its spec.
        writer: the one thread on which everything is written.
        home: the folder the shard is in.
    """

    def __init__(
        self,
        shard: EdgeShard,
        spec: CollectionSpec,
        identity: str,
        writer: ThreadPoolExecutor,
        home: Path,
    ) -> None:
        self.shard = shard
        self.spec = spec
        self.identity = identity
        self._home = home
        self._writer = writer
        self._ids = PointIds(self._read_ids)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points; one with an id already stored is replaced whole.

        They are in the write-ahead log on return, so they outlive the process. Of a sequence
        with an error, the points in the batches before it are written.

        Raises:
            ValueError: a vector does not fit the spec, or a payload uses the reserved field.
            OSError: ``ENOSPC``, less than ``RESERVE_BYTES`` are free; nothing was written.
        """
        for start in range(0, len(points), BATCH_POINTS):
            batch = points[start : start + BATCH_POINTS]
            await self._write(lambda batch=batch: self._upsert(batch))  # type: ignore[misc]

    async def delete(self, where: Sequence[Condition]) -> None:
        """Remove the points for which all conditions hold; no condition removes nothing."""
        if where:
            await self._write(lambda: self._delete(where))

    async def search(self, queries: Sequence[VectorQuery]) -> list[list[Hit]]:
        """Answer several questions in one go, best hit first, one list for each question.

        Raises:
            ValueError: a vector's name or length does not fit the spec.
        """
        from qdrant_edge import QueryBatchRequest

        for query in queries:
            _check_vector(self.spec, query.using, query.vector)
        params = search_params(self.shard.info().points_count)
        request = QueryBatchRequest([_request(query, params) for query in queries])
        answers = self.shard.query_batch(request)
        return [
            self._bare(answer) if not query.payload else [_hit(found) for found in answer]
            for query, answer in zip(queries, answers, strict=True)
        ]

    async def count(self, where: Sequence[Condition] = ()) -> int:
        """How many points satisfy the conditions."""
        from qdrant_edge import CountRequest

        return self.shard.count(CountRequest(exact=True, filter=_filter(where)))

    async def walk(self, payload: Sequence[str] = ()) -> AsyncIterator[Stored]:
        """Every point, with these payload fields, in no fixed order."""
        from qdrant_edge import ScrollRequest

        offset: Any = None
        while True:
            fields = [ID_FIELD, *payload]
            request = ScrollRequest(offset=offset, limit=WALKED_POINTS, with_payload=fields)
            found, offset = self.shard.scroll(request)
            for point in found:
                yield stored(point.payload)
            if offset is None:
                return
            await asyncio.sleep(0)  # each call keeps everything else waiting

    async def flush(self) -> None:
        """Bring everything to disk, and compact what is mostly deleted.

        Stops everything else for about 0.1 s at 10,000 points: once at the end of an index run,
        not after each page. Without it nothing is lost but the quick start.
        """
        await self._write(self._flush)

    async def _write(self, work: Callable[[], None]) -> None:
        if lack := lack_of_room(self._home):
            raise OSError(errno.ENOSPC, f"The vectors are not written: {lack}")
        await asyncio.get_running_loop().run_in_executor(self._writer, work)

    def _bare(self, answer: Sequence[Any]) -> list[Hit]:
        """Hits whose payload nobody asked for, so that it is not read."""
        ids = self._ids.of([found.id for found in answer])
        both = zip(ids, answer, strict=True)
        return [Hit(id, float(found.score), {}) for id, found in both if id is not None]

    def _read_ids(self, points: Sequence[UUID]) -> dict[UUID, str]:
        found: Any = self.shard.retrieve([*points], [ID_FIELD], with_vector=False)
        return {point.id: point.payload[ID_FIELD] for point in found}

    def _upsert(self, points: Sequence[Point]) -> None:
        from qdrant_edge import UpdateOperation

        self.shard.update(UpdateOperation.upsert_points([self._stored(point) for point in points]))

    def _stored(self, point: Point) -> Any:
        from qdrant_edge import Point as EdgePoint

        vectors = {**point.dense, **point.sparse}
        for name, vector in vectors.items():
            _check_vector(self.spec, name, vector)
        edge: dict[str, Any] = {name: _vector(vector) for name, vector in vectors.items()}
        return EdgePoint(point_uuid(point.id), edge, stored_payload(point))

    def _delete(self, where: Sequence[Condition]) -> None:
        from qdrant_edge import UpdateOperation

        found = _filter(where)
        if found is not None:
            self.shard.update(UpdateOperation.delete_points_by_filter(found))

    def _flush(self) -> None:
        self.shard.optimize()
        self.shard.flush()


def _identity(spec_file: Path, spec: CollectionSpec) -> str | None:
    """The identity of a finished collection with this spec; None where there is none to read."""
    if not spec_file.is_file():
        return None
    try:
        kept = json.loads(spec_file.read_bytes())
        identity = str(kept.pop("identity"))
    except (ValueError, TypeError, LookupError, AttributeError):  # damaged, or of an older shape
        return None
    return identity if kept == json.loads(json.dumps(asdict(spec))) else None


def _create(path: Path, spec: CollectionSpec) -> EdgeShard:
    import qdrant_edge as edge

    kinds = {
        "keyword": edge.PayloadSchemaType.Keyword,
        "integer": edge.PayloadSchemaType.Integer,
        "float": edge.PayloadSchemaType.Float,
    }
    path.mkdir(parents=True)
    shard = edge.EdgeShard.create(str(path), config(spec))
    for name, kind in spec.indexed.items():
        shard.update(edge.UpdateOperation.create_field_index(name, kinds[kind]))
    return shard


def _load(path: Path, spec: CollectionSpec | None = None) -> EdgeShard:
    """Open a shard; with its spec also one of an older version gets today's settings."""
    from qdrant_edge import EdgeShard

    try:
        return EdgeShard.load(str(path), None if spec is None else config(spec))
    except Exception as error:  # the engine raises bare exceptions
        if "WouldBlock" in str(error):
            raise StoreInUse(
                f"Another process uses the vector index in {path.parent}. "
                "Stop it, or give this one another data directory."
            ) from error
        raise VectorsUnavailable(
            f"The vector index in {path.parent} is damaged ({error}). "
            "Remove that folder; it is made anew from the content."
        ) from error


def _refuse_foreign(path: Path) -> None:
    """Keep a folder from being removed under another process; a damaged one may go."""
    try:
        _load(path).close()
    except StoreInUse:
        raise
    except VectorsUnavailable:
        return


def _check_vector(spec: CollectionSpec, name: str, vector: Any) -> None:
    if isinstance(vector, Sparse):
        fits = name in spec.sparse and len(vector.indices) == len(vector.values)
    else:
        fits = spec.dense.get(name) == len(vector)
    if not fits:
        raise ValueError(f"the vector {name!r} does not fit the collection's spec")


def _vector(vector: Any) -> Any:
    from qdrant_edge import SparseVector

    if isinstance(vector, Sparse):
        return SparseVector(list(vector.indices), list(vector.values))
    return vector


def _request(query: VectorQuery, params: SearchParams) -> QueryRequest:
    from qdrant_edge import Query, QueryRequest

    return QueryRequest(
        limit=query.limit,
        query=Query.Nearest(_vector(query.vector), using=query.using),
        filter=_filter(query.where),
        params=None if isinstance(query.vector, Sparse) else params,
        with_payload=[ID_FIELD, *query.payload] if query.payload else False,
    )


def _filter(where: Sequence[Condition]) -> Filter | None:
    from qdrant_edge import FieldCondition, Filter, RangeFloat

    must: list[Any] = []
    for condition in where:
        check_condition(condition)
        if condition.any_of is not None:
            matches = [_match(group) for group in typed_values(condition)]
            either: list[Any] = [FieldCondition(condition.field, match=each) for each in matches]
            must.append(either[0] if len(either) == 1 else Filter(should=either))
        if condition.at_least is not None or condition.at_most is not None:
            bounds = RangeFloat(gte=condition.at_least, lte=condition.at_most)
            must.append(FieldCondition(condition.field, range=bounds))
    return Filter(must=must) if must else None


def _match(values: Sequence[Any]) -> Any:
    """Any of some values; a single one is compared in half the time that a set of one takes."""
    from qdrant_edge import MatchAny, MatchValue

    single = len(values) == 1 and not isinstance(values[0], float)
    return MatchValue(values[0]) if single else MatchAny(list(values))


def _hit(found: Any) -> Hit:
    payload = dict(found.payload or {})
    return Hit(payload.pop(ID_FIELD), float(found.score), payload)
