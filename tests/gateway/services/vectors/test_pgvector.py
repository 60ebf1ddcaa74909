"""What only PostgreSQL can get wrong: the extension, its graph, and several processes at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from gateway.contract.services import CollectionSpec, Condition, Point, Sparse, VectorQuery
from gateway.services.vectors import pgvector_collection, pgvector_sql
from gateway.services.vectors.address import open_vectors, vectors_address
from gateway.services.vectors.pgvector import PgVectors
from gateway.services.vectors.store import VectorsUnavailable

NAME = "porch-test-graph"
SPEC = CollectionSpec(dense={"text": 16}, sparse=("words",), indexed={"kind": "keyword"})
MANY = 3_000


@pytest.fixture
async def store(pgvector_url: str) -> AsyncIterator[PgVectors]:
    opened = PgVectors(pgvector_url)
    yield opened
    await opened.drop(NAME)
    await opened.close()


def clouds(count: int) -> np.ndarray:
    """Unit vectors in clusters, as texts have them."""
    random = np.random.default_rng(7)
    centres = random.normal(size=(40, 16))
    found = centres[random.integers(0, 40, count)] + 0.6 * random.normal(size=(count, 16))
    unit: np.ndarray = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


async def indexes(store: PgVectors) -> list[str]:
    query = "SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%hnsw%'"
    async with store.connection() as connection:
        return [row["indexname"] for row in await connection.fetch(query)]


async def test_a_graph_finds_what_comparing_all_finds_and_filters_leave_enough(
    store: PgVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector_collection, "GRAPH_POINTS", MANY)
    things = await store.collection(NAME, SPEC)
    vectors = clouds(MANY + 50)
    points = [
        Point(str(row), {"text": vector}, payload={"kind": "rare" if row % 500 == 0 else "usual"})
        for row, vector in enumerate(vectors[:MANY])
    ]
    await things.upsert(points[:-1])
    await things.flush()
    assert await indexes(store) == []
    await things.upsert(points[-1:])
    await things.flush()
    await things.flush()
    assert len(await indexes(store)) == 1

    asked = vectors[MANY:]
    answers = await things.search([VectorQuery("text", each, limit=10) for each in asked])
    best = np.argsort(-(asked @ vectors[:MANY].T), axis=1)[:, :10]
    shared = [
        len({int(hit.id) for hit in hits} & set(row.tolist()))
        for hits, row in zip(answers, best, strict=True)
    ]
    assert sum(shared) / (10 * len(shared)) >= 0.95

    rare = (Condition("kind", any_of=("rare",)),)
    [found] = await things.search([VectorQuery("text", asked[0], where=rare, limit=10)])
    assert {hit.id for hit in found} == {str(row) for row in range(0, MANY, 500)}
    [all_of_them] = await things.search([VectorQuery("text", asked[0], limit=MANY)])
    assert len(all_of_them) == MANY


async def test_once_a_graph_is_built_words_are_found_in_their_index_alone(
    store: PgVectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector_collection, "GRAPH_POINTS", MANY)
    things = await store.collection(NAME, SPEC)
    said = [Sparse((row % 50, 99), (1.0, 0.5)) for row in range(MANY)]
    pairs = enumerate(zip(clouds(MANY), said, strict=True))
    await things.upsert([Point(str(row), {"text": v}, {"words": w}) for row, (v, w) in pairs])
    await things.flush()
    statement = pgvector_sql.matching(things._number, 0, "true")
    async with store.connection() as connection:
        plan = await connection.fetch(f"EXPLAIN {statement}", [7], 10, ["kind"], [1.0])
    assert any("Index Only Scan using terms_" in row[0] for row in plan)


async def test_two_processes_share_a_collection_and_its_frequencies(
    store: PgVectors, pgvector_url: str
) -> None:
    other = PgVectors(pgvector_url)
    mine, theirs = await asyncio.gather(store.collection(NAME, SPEC), other.collection(NAME, SPEC))
    assert mine.identity == theirs.identity

    def point(name: str) -> Point:
        return Point(name, sparse={"words": Sparse((1, 2), (1.0, float(len(name))))})

    both = [point("a"), point("bb"), point("ccc")]
    await asyncio.gather(*(each.upsert(both) for each in (mine, theirs, mine, theirs)))
    query = [VectorQuery("words", Sparse((2,), (1.0,)))]
    assert await mine.count() == 3
    [seen], [seen_there] = await mine.search(query), await theirs.search(query)
    assert [hit.id for hit in seen] == ["ccc", "bb", "a"]
    assert seen == seen_there
    assert seen[0].score == pytest.approx(3 * np.log(1 + 0.5 / 3.5), rel=1e-4)
    await other.close()


async def test_a_vector_that_does_not_fit_is_refused_and_nothing_of_it_written(
    store: PgVectors,
) -> None:
    things = await store.collection(NAME, SPEC)
    good, bad = np.ones(16, np.float32), np.ones(3, np.float32)
    with pytest.raises(ValueError, match="'text' does not fit"):
        await things.upsert([Point("a", {"text": good}), Point("b", {"text": bad})])
    assert await things.count() == 0
    with pytest.raises(ValueError, match="does not fit"):
        await things.search([VectorQuery("words", good)])


async def test_a_server_without_the_extension_says_who_does_what(postgres: str) -> None:
    plain = PgVectors(postgres)
    with pytest.raises(VectorsUnavailable, match=r"has no pgvector .* CREATE EXTENSION vector"):
        await plain.ready()
    await plain.close()


async def test_a_server_that_is_away_is_named_without_its_password() -> None:
    away = PgVectors("postgresql://porch:secret@127.0.0.1:1/porch")
    with pytest.raises(VectorsUnavailable, match=r"127\.0\.0\.1:1/porch") as raised:
        await away.ready()
    assert "secret" not in str(raised.value)
    await away.close()


def test_the_portals_own_database_can_be_named(tmp_path: Path) -> None:
    own = "postgresql://porch@127.0.0.1/porch"
    assert vectors_address("database", own) == own
    assert isinstance(open_vectors(own, tmp_path), PgVectors)
    with pytest.raises(ValueError, match=r"services\.database names none"):
        vectors_address("database", "sqlite")
