"""The vector stores at 100,000 points: how fast, how right, and what a write costs then.

Vectors are made, without a model: unit vectors in clusters, 384 wide, and words by Zipf's law, as
the knowledge plugin's points have them. So the figures are what a search takes beside embedding
the question. The baseline of recall compares every vector.
"""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.table import Bar, Row

if TYPE_CHECKING:
    from gateway.contract.services import Collection, Point, VectorQuery

SECTION = "vectors"
POINTS = 100_000
DIMENSIONS = 384
CLUSTERS = 1_000
SPREAD = 0.9
WORDS = 30
VOCABULARY, STOP_WORDS = 50_000, 30
"""Words by Zipf's law, without the most frequent, which no point holds."""
QUESTIONS = 200
CLIENTS = 16
LIMIT = 60
"""How many hits a question asks for, as the knowledge plugin does of each kind."""
_BATCH = 2_000
_TIERS = ("open", "public", "members")
_HOW = {"embedded": "codes, then whole vectors", "pgvector": "HNSW"}


def measure() -> list[Row]:
    """Fill both stores, and ask the same of each."""
    from tests.servers.pgvector import pgvector_server

    with tempfile.TemporaryDirectory(prefix="pv") as place, pgvector_server(Path(place)) as url:
        return asyncio.run(_measured(url, Path(place)))


async def _measured(url: str, place: Path) -> list[Row]:
    from gateway.services.vectors.pgvector import PgVectors
    from gateway.services.vectors.qdrant_edge import EdgeVectors

    rows: list[Row] = []
    exact = _nearest()
    for name, store in (("embedded", EdgeVectors(place / "edge")), ("pgvector", PgVectors(url))):
        collection = await store.collection("bench", _spec())
        begun = time.perf_counter()
        for start in range(0, POINTS, _BATCH):
            await collection.upsert(_points(start, _BATCH))
        await collection.flush()
        filled = time.perf_counter() - begun
        found, took = await _asked(collection)
        rows += await _rows(name, collection, took)
        shared = [len(set(a[:10]) & b) / 10 for a, b in zip(found, exact, strict=True)]
        rows.append(
            Row(SECTION, f"{name}: recall@10 of exact", sum(shared) / len(shared), "",
                Bar("at least", 0.95),
                f"of {QUESTIONS} questions with a filter; {_HOW[name]}, half precision",
                headline=True)
        )  # fmt: skip
        rows.append(Row(SECTION, f"{name}: filled and flushed", filled, "s", None, "once"))
        await store.close()
    return rows


def _nearest() -> list[set[str]]:
    """The ids of the ten nearest points to each question, of those that its filter admits."""
    import numpy as np

    asked = np.stack([_vectors(10**9 + number, 1)[0] for number in range(QUESTIONS)])
    stored = np.concatenate([_vectors(start, _BATCH) for start in range(0, POINTS, _BATCH)])
    hidden = np.concatenate(
        [np.arange(_BATCH) % len(_TIERS) == 2 for _ in range(0, POINTS, _BATCH)]
    )
    scores = asked @ stored.T
    scores[:, hidden] = -1
    return [{str(id) for id in row} for row in np.argsort(-scores, axis=1)[:, :10]]


async def _asked(collection: Collection) -> tuple[list[list[str]], list[float]]:
    """The ids found for each question, one after the other, and what each took in ms."""
    found, took = [], []
    for number in range(QUESTIONS):
        begun = time.perf_counter()
        dense, sparse = await collection.search(_questions(number))
        took.append((time.perf_counter() - begun) * 1000)
        found.append([hit.id for hit in dense])
        if not sparse:
            raise RuntimeError("a question found no words")
    return found, took


async def _rows(name: str, collection: Collection, took: Sequence[float]) -> list[Row]:
    rate = await _rate(collection)
    begun = time.perf_counter()
    await collection.upsert(_points(POINTS, 1))
    await collection.flush()
    wrote = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = f"{POINTS:,} points"
    return [
        Row(SECTION, f"{name}: a question by meaning and words, {size}", median(took), "ms",
            Bar("under", 15), "beside embedding it; filtered by tier", headline=True),
        Row(SECTION, f"{name}: questions by {CLIENTS} clients", rate, "per s",
            Bar("at least", 200), "one process, and the server beside it"),
        Row(SECTION, f"{name}: one point written and flushed", wrote, "s", Bar("under", 2), size),
        Row(SECTION, f"{name}: memory of the process", memory, "GiB", Bar("under", 2), "peak"),
    ]  # fmt: skip


async def _rate(collection: Collection) -> float:
    async def client(number: int) -> None:
        for each in range(number, QUESTIONS, CLIENTS):
            await collection.search(_questions(each))

    begun = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return QUESTIONS / (time.perf_counter() - begun)


def _spec() -> Any:
    from gateway.contract.services import CollectionSpec

    return CollectionSpec({"text": DIMENSIONS}, ("words",), {"tier": "keyword", "doc": "keyword"})


def _points(start: int, count: int) -> list[Point]:
    from gateway.contract.services import Point, Sparse

    vectors, words = _vectors(start, count), _words(start, count)
    return [
        Point(
            f"{start + row}",
            {"text": vectors[row]},
            {"words": Sparse(tuple(words[row]), (1.0,) * len(words[row]))},
            {"tier": _TIERS[row % 3], "doc": f"file/{start + row}"},
        )
        for row in range(count)
    ]


def _questions(number: int) -> list[VectorQuery]:
    from gateway.contract.services import Condition, Sparse, VectorQuery

    where = (Condition("tier", any_of=("open", "public")),)
    words = tuple(_words(10**9 + number, 1)[0][:5])
    return [
        VectorQuery("text", _vectors(10**9 + number, 1)[0], where, LIMIT, ("doc",)),
        VectorQuery("words", Sparse(words, (1.0,) * len(words)), where, LIMIT, ("doc",)),
    ]


def _vectors(start: int, count: int) -> Any:
    import numpy as np

    centres = np.random.default_rng(1).normal(size=(CLUSTERS, DIMENSIONS))
    random = np.random.default_rng(start + 2)
    noise = SPREAD * random.normal(size=(count, DIMENSIONS))
    found = centres[random.integers(0, CLUSTERS, count)] + noise
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def _words(start: int, count: int) -> list[list[int]]:
    import numpy as np

    drawn = np.random.default_rng(start + 3).random((count, WORDS))
    ranks = STOP_WORDS * (1 + VOCABULARY / STOP_WORDS) ** drawn
    return [sorted({int(rank) for rank in row}) for row in ranks]
