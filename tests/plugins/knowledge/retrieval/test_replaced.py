"""Two processes on one vector store, of which one is given another model: both go on answering."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import Tier
from gateway.plugin_host import make_host
from gateway.services import open_services
from gateway.services.vectors.address import open_vectors
from gateway.services.vectors.store import OwnedVectors, VectorStore
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.retrieval import replaced
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.index import collection_name
from plugins.knowledge.retrieval.points import spec
from plugins.knowledge.store import Store
from tests.gateway.services.vectors.test_store import memory_qdrant
from tests.plugins.knowledge.retrieval.conftest import SETTINGS, Base, WordEmbedder

OPEN = SearchFilters()
A_DAY_LATER = timedelta(0)


@dataclass
class Replicas:
    """Opens processes of one portal, each with data of its own.

    Attributes:
        data: where these are.
        vectors: what all of them search.
        objects: what all of them read.
        one: a model, which no other test has.
        two: another one.
    """

    data: Path
    vectors: OwnedVectors
    objects: Any
    one: str
    two: str

    @asynccontextmanager
    async def opened(self, name: str, model: str) -> AsyncGenerator[Base]:
        async with open_services(SETTINGS, self.data / name) as services:
            own = services.for_plugin("knowledge")
            shared = {"vectors": self.vectors, "objects": self.objects}
            shares = replace(own, embedder=WordEmbedder(model=model), reranker=None, **shared)
            host = make_host(shares, "knowledge", "Test portal")
            knowledge = await Knowledge.open(host, Store.of(host), "test")
            try:
                yield Base(knowledge, host)
            finally:
                await knowledge.index.close()

    async def swapped(self, base: Base, *notes: Any) -> None:
        """Fill the index of a process that has another model, until that answers."""
        await base.put(*notes)
        assert (await base.knowledge.search("noon", OPEN, Tier.OPEN)).note is None

    async def holds(self, model: str) -> int:
        """How much is in a model's collection."""
        dimensions = WordEmbedder().dimensions
        there = await self.vectors.collection(collection_name(model), spec(dimensions))
        return await there.count()


@pytest.fixture(params=["pgvector", "qdrant client"])
async def replicas(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Replicas]:
    store: VectorStore = memory_qdrant()
    if request.param == "pgvector":
        store = open_vectors(request.getfixturevalue("pgvector_url"), tmp_path)
    mark = uuid.uuid4().hex
    async with open_services(SETTINGS, tmp_path / "common") as services:
        objects = services.for_plugin("knowledge").objects
        vectors = OwnedVectors(store, "knowledge")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Payload indexes have no effect", UserWarning)
            yield Replicas(tmp_path, vectors, objects, f"one {mark}", f"two {mark}")
            for model in ("one", "two"):
                await vectors.drop(collection_name(f"{model} {mark}"))
    await store.close()


@pytest.fixture
def notes(make: Callable[..., Any]) -> list[Any]:
    return [make("article/river", "The river floods."), make("article/lunch", "Lunch is at noon.")]


async def finds_noon(base: Base) -> bool:
    found = await base.knowledge.search("noon", OPEN, Tier.OPEN)
    return [one.id for one in found.results][:1] == ["lunch"]


async def test_another_model_takes_nothing_from_who_runs_the_one_before(
    replicas: Replicas, notes: list[Any]
) -> None:
    async with replicas.opened("a", replicas.one) as first:
        await first.put(*notes)
        async with replicas.opened("b", replicas.one) as second:
            await second.knowledge.store.put(notes)
        for _ in range(2):
            async with replicas.opened("b", replicas.two) as second:
                await replicas.swapped(second, *notes)
                await second.knowledge.index.look_after_replaced()
        assert await finds_noon(first)
        assert not first.knowledge.index.is_lost


async def test_who_asks_a_collection_keeps_it_and_what_nobody_asks_goes_a_day_later(
    replicas: Replicas, notes: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replicas.opened("a", replicas.one) as first:
        await first.put(*notes)
    async with replicas.opened("a", replicas.two) as second:
        await replicas.swapped(second, *notes)
        await second.knowledge.index.look_after_replaced()
        kept = await replicas.holds(replicas.one)
        assert kept == await replicas.holds(replicas.two) > 0
        monkeypatch.setattr(replaced, "KEPT", A_DAY_LATER)
        async with replicas.opened("b", replicas.one) as first:
            await first.knowledge.index.look_after_replaced()
            assert await replicas.holds(replicas.one) == kept
        await second.knowledge.index.look_after_replaced()
        assert await replicas.holds(replicas.one) == 0
        assert [each async for each in replicas.objects.list(replaced.MARKS)] == []
        assert await finds_noon(second)


async def test_a_collection_that_is_gone_is_made_anew_and_nothing_fails(
    replicas: Replicas, notes: list[Any]
) -> None:
    async with replicas.opened("a", replicas.one) as base:
        await base.put(*notes)
        before = base.knowledge.index.fingerprint
        await replicas.vectors.drop(collection_name(replicas.one))
        assert not await finds_noon(base)
        assert base.knowledge.index.is_lost
        assert base.knowledge.index.fingerprint != before
        await base.put(*notes)
        assert await finds_noon(base)
