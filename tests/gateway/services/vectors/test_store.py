"""One contract for every vector store: the embedded engine, pgvector and the Qdrant client."""

import math
import os
import uuid
import warnings
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract.services import CollectionSpec, Condition, Point, Sparse, VectorQuery
from gateway.services.vectors import pgvector_collection
from gateway.services.vectors import qdrant as vectors_qdrant
from gateway.services.vectors import qdrant_edge as vectors_edge
from gateway.services.vectors.address import open_vectors
from gateway.services.vectors.pgvector import PgVectors
from gateway.services.vectors.qdrant import QdrantVectors
from gateway.services.vectors.qdrant_edge import EdgeVectors
from gateway.services.vectors.store import OwnedVectors, VectorStore
from tests.examples import examples

ROUNDED = 2e-3
"""How far a cosine may be off: stores may keep vectors in half precision."""
THINGS = "porch-test-things"  # a cluster may hold other things
SPEC = CollectionSpec(
    dense={"text": 4, "title": 2},
    sparse=("words",),
    indexed={"kind": "keyword", "year": "integer", "weight": "float"},
)


def memory_qdrant() -> QdrantVectors:
    from qdrant_client import AsyncQdrantClient

    return QdrantVectors(AsyncQdrantClient(":memory:"))


@pytest.fixture(params=["edge", "pgvector", "client", "cluster"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    if request.param == "edge":
        opened = open_vectors("embedded", tmp_path)
    elif request.param == "pgvector":
        opened = open_vectors(request.getfixturevalue("pgvector_url"), tmp_path)
    elif request.param == "client":
        opened = memory_qdrant()
    elif url := os.environ.get("QDRANT_URL"):
        opened = open_vectors(url, tmp_path)
    else:
        pytest.skip("QDRANT_URL names no Qdrant server to test against")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Payload indexes have no effect", UserWarning)
        yield opened
        await opened.drop(THINGS)
    await opened.close()


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def thing(name: str, text: np.ndarray, **payload: Any) -> Point:
    return Point(name, dense={"text": text}, payload=payload)


async def test_the_nearest_point_comes_first_with_its_cosine_and_chosen_payload(
    store: VectorStore,
) -> None:
    things = await store.collection(THINGS, SPEC)
    east, north = unit(1, 0, 0, 0), unit(0, 1, 0, 0)
    await things.upsert([thing("east", east, kind="a", year=1), thing("north", north, kind="b")])
    query = VectorQuery("text", unit(3, 1, 0, 0), limit=5, payload=("kind",))
    [hits] = await things.search([query])
    assert [hit.id for hit in hits] == ["east", "north"]
    assert hits[0].score == pytest.approx(3 / math.sqrt(10), abs=ROUNDED)
    assert hits[0].payload == {"kind": "a"}
    [bare] = await things.search([VectorQuery("text", unit(3, 1, 0, 0), limit=5)])
    assert [(hit.id, hit.payload) for hit in bare] == [("east", {}), ("north", {})]


async def test_a_collection_keeps_its_identity_until_it_is_made_anew(store: VectorStore) -> None:
    identity = (await store.collection(THINGS, SPEC)).identity
    assert identity
    assert (await store.collection(THINGS, SPEC)).identity == identity
    await store.drop(THINGS)
    anew = (await store.collection(THINGS, SPEC)).identity
    other = (await store.collection(THINGS, CollectionSpec(dense={"text": 2}))).identity
    assert len({identity, anew, other}) == 3


async def test_several_questions_are_answered_in_order(store: VectorStore) -> None:
    things = await store.collection(THINGS, SPEC)
    point = Point("both", dense={"text": unit(1, 1, 1, 1), "title": unit(1, 0)})
    await things.upsert([point, Point("title only", dense={"title": unit(0, 1)})])
    by_text, by_title = await things.search(
        [VectorQuery("text", unit(1, 0, 0, 0)), VectorQuery("title", unit(0, 1))]
    )
    assert [hit.id for hit in by_text] == ["both"]
    assert [hit.id for hit in by_title] == ["title only", "both"]


async def test_a_second_write_replaces_the_whole_point(store: VectorStore) -> None:
    things = await store.collection(THINGS, SPEC)
    await things.upsert([thing("x", unit(1, 0, 0, 0), kind="old", year=1)])
    await things.upsert([Point("x", dense={"title": unit(1, 0)}, payload={"kind": "new"})])
    assert await things.count() == 1
    assert await things.search([VectorQuery("text", unit(1, 0, 0, 0))]) == [[]]
    [[hit]] = await things.search([VectorQuery("title", unit(1, 0), payload=("kind", "year"))])
    assert hit.payload == {"kind": "new"}


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ((), {"a", "b", "c"}),
        ((Condition("kind", any_of=("guide",)),), {"a", "b"}),
        ((Condition("kind", any_of=("guide", "tag")),), {"a", "b", "c"}),
        ((Condition("kind", any_of=()),), set()),
        ((Condition("year", any_of=(2024,)),), {"a"}),
        ((Condition("mixed", any_of=("x", 2)),), {"a", "b"}),
        ((Condition("tags", any_of=("blue",)),), {"a", "c"}),
        ((Condition("weight", at_least=0.5),), {"b", "c"}),
        ((Condition("weight", at_least=0.5, at_most=0.5),), {"b"}),
        ((Condition("kind", any_of=("guide",)), Condition("tags", any_of=("blue",))), {"a"}),
        ((Condition("absent", any_of=("x",)),), set()),
    ],
)
async def test_filters_keep_what_matches(
    store: VectorStore, where: tuple[Condition, ...], names: set[str]
) -> None:
    things = await store.collection(THINGS, SPEC)
    here = unit(1, 1, 1, 1)
    await things.upsert(
        [
            thing("a", here, kind="guide", year=2024, weight=0.1, tags=["red", "blue"], mixed="x"),
            thing("b", here, kind="guide", year=2025, weight=0.5, tags=["red"], mixed=2),
            thing("c", here, kind="tag", year=2026, weight=0.9, tags="blue"),
        ]
    )
    [hits] = await things.search([VectorQuery("text", here, where=where)])
    assert {hit.id for hit in hits} == names
    assert await things.count(where) == len(names)


async def test_a_walk_meets_every_point_once_with_the_payload_asked_for(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (vectors_edge, vectors_qdrant, pgvector_collection):
        monkeypatch.setattr(module, "WALKED_POINTS", 7)
    things = await store.collection(THINGS, SPEC)
    assert [each async for each in things.walk()] == []
    here = unit(1, 0, 0, 0)
    await things.upsert([thing(f"n{n}", here, year=n, kind="guide") for n in range(30)])
    await things.delete([Condition("year", any_of=(3,))])
    await things.upsert([Point("bare")])
    found = [each async for each in things.walk(["year", "absent"])]
    wanted = {f"n{n}": {"year": n} for n in range(30) if n != 3} | {"bare": {}}
    assert len(found) == len(wanted)
    assert {each.id: dict(each.payload) for each in found} == wanted


async def test_deletion_removes_what_matches_and_nothing_without_a_condition(
    store: VectorStore,
) -> None:
    things = await store.collection(THINGS, SPEC)
    here = unit(1, 0, 0, 0)
    await things.upsert([thing(str(n), here, year=n) for n in range(10)])
    await things.delete([])
    assert await things.count() == 10
    await things.delete([Condition("year", at_most=3)])
    assert await things.count() == 6
    await things.delete([Condition("year", any_of=(4, 5)), Condition("year", at_least=5)])
    [hits] = await things.search([VectorQuery("text", here)])
    assert {hit.id for hit in hits} == {"4", "6", "7", "8", "9"}


async def test_a_condition_that_says_nothing_is_refused(store: VectorStore) -> None:
    things = await store.collection(THINGS, SPEC)
    with pytest.raises(ValueError, match="no values and no bounds"):
        await things.delete([Condition("kind")])


async def test_sparse_scores_are_the_dot_product_weighted_by_inverse_document_frequency(
    store: VectorStore,
) -> None:
    things = await store.collection(THINGS, SPEC)
    documents = {"a": {1: 2.0, 2: 1.0}, "b": {1: 1.0}, "c": {3: 0.5}, "d": {2: 1.0, 3: 1.0}}
    points = [
        Point(name, sparse={"words": Sparse(tuple(terms), tuple(terms.values()))})
        for name, terms in documents.items()
    ]
    await things.upsert([*points, thing("no words", unit(1, 0, 0, 0))])
    [hits] = await things.search([VectorQuery("words", Sparse((1, 2, 99), (1.0, 0.5, 1.0)))])

    def idf(term: int) -> float:
        n = sum(term in terms for terms in documents.values())
        return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))

    expected = {"a": 2 * idf(1) + 0.5 * idf(2), "b": idf(1), "d": 0.5 * idf(2)}
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, rel=1e-4)


async def test_the_same_spec_keeps_the_points_and_another_makes_the_collection_anew(
    store: VectorStore,
) -> None:
    things = await store.collection(THINGS, SPEC)
    await things.upsert([thing("x", unit(1, 0, 0, 0))])
    await things.flush()
    assert await (await store.collection(THINGS, SPEC)).count() == 1
    wider = await store.collection(THINGS, CollectionSpec(dense={"text": 8}))
    assert await wider.count() == 0


async def test_dropping_removes_all_and_an_absent_collection_is_no_error(
    store: VectorStore,
) -> None:
    things = await store.collection(THINGS, SPEC)
    await things.upsert([thing("x", unit(1, 0, 0, 0))])
    await store.drop(THINGS)
    await store.drop(THINGS)
    assert await (await store.collection(THINGS, SPEC)).count() == 0


async def test_the_field_that_keeps_the_id_is_reserved(store: VectorStore) -> None:
    things = await store.collection(THINGS, SPEC)
    with pytest.raises(ValueError, match="'_id'"):
        await things.upsert([thing("x", unit(1, 0, 0, 0), _id="mine")])


@pytest.mark.parametrize("name", ["", "../up", "Capital", "a/b", "x" * 64])
async def test_names_that_could_leave_the_directory_are_refused(
    store: VectorStore, name: str
) -> None:
    with pytest.raises(ValueError, match="collection names"):
        await store.collection(name, SPEC)
    with pytest.raises(ValueError, match="collection names"):
        await store.drop(name)


async def test_two_owners_with_one_name_never_meet(store: VectorStore) -> None:
    one, two = OwnedVectors(store, "porch_test_one"), OwnedVectors(store, "porch_test_two")
    spec = CollectionSpec(dense={"text": 4})
    mine = await one.collection(THINGS, spec)
    await mine.upsert([thing("x", unit(1, 0, 0, 0))])
    assert await (await two.collection(THINGS, spec)).count() == 0
    assert await mine.count() == 1
    await two.drop(THINGS)
    assert await mine.count() == 1
    await one.drop(THINGS)


def test_an_address_that_is_neither_embedded_nor_a_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'localhost'"):
        open_vectors("localhost", tmp_path)


numbers = st.integers(min_value=-3, max_value=3)
payloads = st.fixed_dictionaries(
    {"kind": st.sampled_from("abc"), "year": numbers, "tags": st.lists(st.sampled_from("xyz"))}
)
vectors = st.lists(numbers, min_size=4, max_size=4).filter(any).map(lambda v: unit(*v))
conditions = st.one_of(
    st.builds(Condition, st.just("kind"), st.lists(st.sampled_from("abc")).map(tuple)),
    st.builds(Condition, st.just("tags"), st.lists(st.sampled_from("xyz")).map(tuple)),
    st.builds(Condition, st.just("year"), st.none(), numbers, st.none() | numbers),
)


def holds(condition: Condition, payload: dict[str, Any]) -> bool:
    found = payload[condition.field]
    values = found if isinstance(found, list) else [found]
    return any(
        (condition.any_of is None or value in condition.any_of)
        and (condition.at_least is None or value >= condition.at_least)
        and (condition.at_most is None or value <= condition.at_most)
        for value in values
    )


@given(
    points=st.lists(st.tuples(vectors, payloads), max_size=12),
    query=vectors,
    where=st.lists(conditions, max_size=3),
    limit=st.integers(1, 15),
)
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@pytest.mark.parametrize("kind", ["edge", "pgvector", "client"])
async def test_filtered_search_agrees_with_brute_force(
    tmp_path: Path,
    pgvector_url: str,
    kind: str,
    points: list[tuple[np.ndarray, dict[str, Any]]],
    query: np.ndarray,
    where: list[Condition],
    limit: int,
) -> None:
    makers: dict[str, Callable[[], VectorStore]] = {
        "edge": lambda: EdgeVectors(tmp_path / uuid.uuid4().hex),
        "pgvector": lambda: PgVectors(pgvector_url),
        "client": memory_qdrant,
    }
    store = makers[kind]()
    things = await store.collection(THINGS, CollectionSpec(dense={"text": 4}))
    await things.upsert(
        [thing(str(row), vector, **payload) for row, (vector, payload) in enumerate(points)]
    )
    [hits] = await things.search(
        [VectorQuery("text", query, where=tuple(where), limit=limit, payload=("year",))]
    )
    matching = {
        str(row): float(vector @ query)
        for row, (vector, payload) in enumerate(points)
        if all(holds(condition, payload) for condition in where)
    }
    best = sorted(matching.values(), reverse=True)[:limit]
    assert [hit.score for hit in hits] == pytest.approx(best, abs=ROUNDED)
    assert all(hit.score == pytest.approx(matching[hit.id], abs=ROUNDED) for hit in hits)
    assert all(hit.payload["year"] == points[int(hit.id)][1]["year"] for hit in hits)
    assert await things.count(where) == len(matching)
    await store.drop(THINGS)
    await store.close()
