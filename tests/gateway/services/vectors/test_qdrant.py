"""What goes over the wire to a Qdrant cluster, against a server on loopback that records it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateway.contract.services import CollectionSpec, Condition, Point, Sparse, VectorQuery
from gateway.services.vectors.address import open_vectors
from gateway.services.vectors.store import VectorsUnavailable, point_uuid

SPEC = CollectionSpec(dense={"text": 2}, sparse=("words",), indexed={"year": "integer"})
EAST = np.array([1, 0], dtype=np.float32)
COLLECTION = {
    "status": "green",
    "optimizer_status": "ok",
    "segments_count": 1,
    "config": {
        "params": {
            "vectors": {"text": {"size": 2, "distance": "Cosine"}},
            "sparse_vectors": {"words": {"modifier": "idf"}},
        },
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
        "optimizer_config": {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        },
        "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
        "metadata": {"identity": "0123456789abcdef"},
    },
    "payload_schema": {},
}
FOUND = {"id": point_uuid("x"), "version": 1, "score": 0.5, "payload": {"_id": "x", "year": 1}}
ANSWERS: dict[str, Any] = {
    "/exists": {"exists": True},
    "/points/query/batch": [{"points": [FOUND]}],
    "/points/count": {"count": 7},
    "/points": {"operation_id": 1, "status": "completed"},
    "/points/delete": {"operation_id": 2, "status": "completed"},
    "/index": {"operation_id": 3, "status": "completed"},
    "": COLLECTION,
}

Request = tuple[str, str, Any]


class Cluster(ThreadingHTTPServer):
    """Answers as Qdrant's REST interface documents it, and remembers every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Cluster

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests.append((self.command, self.path, json.loads(body or "null")))
        self.server.keys.add(self.headers.get("api-key"))
        route = self.path.partition("?")[0].removeprefix("/collections/things")
        result = ANSWERS[route] if route or self.command == "GET" else True
        payload = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """The test's output stays its own."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")
async def test_a_fitting_collection_is_kept_and_gets_its_missing_index(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = open_vectors(cluster.url, tmp_path, api_key="key")
    await store.collection("things", SPEC)
    await store.close()
    calls = [(method, path) for method, path, _ in cluster.requests]
    assert ("DELETE", "/collections/things") not in calls
    assert ("PUT", "/collections/things") not in calls
    [index] = [body for method, path, body in cluster.requests if "/index" in path]
    assert index == {"field_name": "year", "field_schema": "integer"}
    assert cluster.keys == {"key"}


async def test_another_spec_deletes_and_creates_with_idf(cluster: Cluster, tmp_path: Path) -> None:
    store = open_vectors(cluster.url, tmp_path)
    await store.collection("things", CollectionSpec(dense={"text": 3}, sparse=("words",)))
    await store.close()
    changes = [(method, body) for method, path, body in cluster.requests if method != "GET"]
    assert len(changes[1][1].pop("metadata")["identity"]) == 16
    assert changes == [
        ("DELETE", None),
        (
            "PUT",
            {
                "vectors": {"text": {"size": 3, "distance": "Cosine"}},
                "sparse_vectors": {"words": {"modifier": "idf"}},
            },
        ),
    ]


async def test_points_are_written_with_their_uuid_and_awaited(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = open_vectors(cluster.url, tmp_path)
    things = await store.collection("things", SPEC)
    words = {"words": Sparse((3, 9), (0.5, 2.0))}
    await things.upsert([Point("x", dense={"text": EAST}, sparse=words, payload={"year": 1})])
    await store.close()
    method, path, body = cluster.requests[-1]
    assert (method, path) == ("PUT", "/collections/things/points?wait=true")
    assert body["points"] == [
        {
            "id": point_uuid("x"),
            "vector": {"text": [1.0, 0.0], "words": {"indices": [3, 9], "values": [0.5, 2.0]}},
            "payload": {"year": 1, "_id": "x"},
        }
    ]


async def test_questions_go_in_one_request_and_come_back_as_hits(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = open_vectors(cluster.url, tmp_path)
    things = await store.collection("things", SPEC)
    where = (Condition("year", any_of=(1, 2)), Condition("year", at_least=1))
    [[hit]] = await things.search([VectorQuery("text", EAST, where, limit=3, payload=("year",))])
    await store.close()
    assert (hit.id, hit.score, hit.payload) == ("x", 0.5, {"year": 1})
    method, path, body = cluster.requests[-1]
    assert (method, path) == ("POST", "/collections/things/points/query/batch")
    [search] = body["searches"]
    assert (search["query"], search["using"]) == ({"nearest": [1.0, 0.0]}, "text")
    assert search["limit"] == 3
    assert search["with_payload"] == ["_id", "year"]
    assert search["filter"]["must"] == [
        {"should": [{"key": "year", "match": {"any": [1, 2]}}]},
        {"key": "year", "range": {"gte": 1.0}},
    ]


async def test_counts_and_deletions_carry_the_filter(cluster: Cluster, tmp_path: Path) -> None:
    store = open_vectors(cluster.url, tmp_path)
    things = await store.collection("things", SPEC)
    old = [Condition("year", at_most=3)]
    assert await things.count(old) == 7
    await things.delete(old)
    await store.close()
    must = {"must": [{"key": "year", "range": {"lte": 3.0}}]}
    (_, _, counted), (_, deleted_at, deleted) = cluster.requests[-2:]
    assert counted == {"filter": must, "exact": True}
    assert (deleted_at, deleted) == (
        "/collections/things/points/delete?wait=true",
        {"filter": must},
    )


async def test_a_cluster_that_does_not_answer_is_named_with_what_to_do(tmp_path: Path) -> None:
    store = open_vectors("http://127.0.0.1:9", tmp_path)
    with pytest.raises(VectorsUnavailable, match=r"Check the address in services\.vectors"):
        await store.collection("things", SPEC)
    await store.close()
