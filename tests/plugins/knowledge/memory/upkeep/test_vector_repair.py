"""The vector store is brought to what the database says, whatever it lost or kept."""

import pytest

from plugins.knowledge.memory.model.requests import CreateRequest
from plugins.knowledge.memory.store.vectors import stored_name
from tests.plugins.knowledge.memory.conftest import ANA, World
from tests.plugins.knowledge.memory.test_faults import Failing, Gone, gone
from tests.plugins.knowledge.memory.upkeep.conftest import points, upkeep
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio
assert gone, Failing


async def by_meaning(world: World, query: str) -> list[str]:
    return await world.found(ANA, query, mode="semantic", options={"limit": 1})


async def test_a_vector_store_that_was_lost_is_filled_from_the_database(world: World) -> None:
    vector = [0.0] * 63 + [1.0]
    request = {"entry": {"content": "Opaque.", "embedding": vector}}
    own = (await world.memory.entries.create(CreateRequest.model_validate(request), ANA)).entry
    for number in range(30):
        await world.remember(ANA, f"Bed {number} has onions.")
    before = await points(world)
    assert len(before) == 31
    await world.host.vectors.drop(stored_name("memory", "words"))
    model = world.host.embedder
    assert isinstance(model, WordEmbedder)
    model.read.clear()
    assert await upkeep(world, minutes=10) == {"filled": 31}
    assert await points(world) == before
    assert model.read == []  # all vectors were kept, a client's own too
    options = {"include_embeddings": True, "limit": 40}
    answer = await world.ask(ANA, "opaque", mode="semantic", options=options)
    shown = {result.entry.id: result.entry.embedding for result in answer.results}
    assert shown[own.id] == pytest.approx(vector)
    assert await upkeep(world, minutes=10) == {}


async def test_what_was_written_while_the_store_was_gone_is_found_by_meaning_after_it(
    world: World, gone: Gone
) -> None:
    kept = await world.remember(ANA, "The gate is green.")
    erased = await world.remember(ANA, "The key is under the mat.")
    gone(["upsert", "delete"])
    await world.change(ANA, kept.id, "The gate is yellow.")
    await world.remember(ANA, "The shed is red.")
    await world.memory.entries.writes.erase([erased.id])
    gone([])
    assert await upkeep(world, minutes=10) == {"swept": 2, "filled": 2}
    assert await by_meaning(world, "yellow gate") == ["The gate is yellow."]
    assert await by_meaning(world, "red shed") == ["The shed is red."]
    assert (("memory", kept.id, 2) in await points(world)) is True
    assert erased.id not in {id for _, id, _ in await points(world)}


async def test_a_store_that_is_still_gone_costs_the_other_parts_nothing(
    world: World, gone: Gone, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = await world.remember(
        ANA, "The well is dry.", layer="session", importance=1.0, confidence=1.0
    )

    async def breaks(*_: object) -> None:
        raise ConnectionError("the vector store is gone")

    vectors = world.memory.entries.vectors
    with monkeypatch.context() as broken:
        broken.setattr(vectors, "_collection", breaks)
        counts = await world.memory.upkeep.once()
    assert (counts["promoted"], counts["failed"]) == (1, ["sweep"])
    assert await upkeep(world) == {"promoted": 1, "filled": 1}
    assert await by_meaning(world, "dry well") == [entry.content]
