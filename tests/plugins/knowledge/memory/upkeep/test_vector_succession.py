"""Another model under a memory that is full: vectors of two models are never compared."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from plugins.knowledge.memory.store.vectors import MemoryVectors
from plugins.knowledge.memory.upkeep.vector_repair import EMBEDDING_BATCH_SIZE
from plugins.knowledge.retrieval import replaced
from tests.plugins.knowledge.memory.conftest import ANA, Opener, World
from tests.plugins.knowledge.memory.upkeep.conftest import points
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio


class Slow(WordEmbedder):
    """Another model of as many dimensions, which embeds once it may."""

    def __init__(self) -> None:
        super().__init__(model="other", meanings={})
        self.may = asyncio.Event()

    async def passages(self, texts):
        await self.may.wait()
        return await super().passages(texts)

    def _vector(self, text):
        return super()._vector(text)[::-1].copy()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.02)


async def whole(world: World, count: int) -> None:
    """Until as many points are there, and the store is told to be whole."""

    async def is_whole() -> bool:
        return len(await points(world)) >= count and not await behind(world)

    await until(is_whole)


async def behind(world: World) -> bool:
    vectors = world.memory.entries.vectors
    return vectors is not None and vectors.behind


async def test_until_the_new_models_vectors_are_there_words_answer(open_world: Opener) -> None:
    world = await open_world(WordEmbedder())
    for text in ("The gate is green.", "The boat is old."):
        await world.remember(ANA, text)
    await whole(world, 2)
    model = Slow()
    world = await open_world(model)
    await until(lambda: behind(world))
    answer = await world.ask(ANA, "gate green")
    assert [each.entry.content for each in answer.results] == ["The gate is green."]
    assert "another model" in answer.metadata.layers_failed["semantic"]
    model.may.set()
    await whole(world, 2)
    answer = await world.ask(ANA, "gate green", mode="semantic")
    assert answer.results[0].entry.content == "The gate is green."
    assert answer.results[0].score > 0.9
    assert not answer.metadata.layers_failed


class Stopped(Slow):
    """The same, which embeds one portion and no more."""

    async def passages(self, texts):
        made = await WordEmbedder.passages(self, texts)
        await self.may.wait()
        self.may.clear()
        return made


async def test_what_a_portal_that_died_has_left_of_it_is_made_at_the_next_start(
    open_world: Opener,
) -> None:
    count = EMBEDDING_BATCH_SIZE + 4
    world = await open_world(WordEmbedder())
    for number in range(count):
        await world.remember(ANA, f"Gate {number} is green.")
    await whole(world, count)
    stopped = Stopped()
    stopped.may.set()
    world = await open_world(stopped)
    await until(lambda: half_made(world))
    assert await behind(world)
    model = Slow()
    world = await open_world(model)
    await until(lambda: behind(world))
    model.may.set()
    await whole(world, count)


async def test_nothing_is_left_of_a_model_that_was_tried_and_given_up(open_world: Opener) -> None:
    count = EMBEDDING_BATCH_SIZE + 4
    world = await open_world(WordEmbedder())
    for number in range(count):
        await world.remember(ANA, f"Gate {number} is green.")
    await whole(world, count)
    stopped = Stopped()
    stopped.may.set()
    world = await open_world(stopped)
    await until(lambda: half_made(world))
    world = await open_world(WordEmbedder())
    vectors = world.memory.entries.vectors
    assert vectors is not None
    kept = vectors.kept

    async def is_of_one() -> bool:
        return await kept.models() == {"words"}

    await until(is_of_one)
    await whole(world, count)
    assert await kept.of_other_models() == set()


async def half_made(world: World) -> bool:
    return len(await points(world)) == EMBEDDING_BATCH_SIZE


async def test_the_same_model_embeds_nothing_anew(open_world: Opener) -> None:
    world = await open_world(WordEmbedder())
    await world.remember(ANA, "The gate is green.")
    again = replace(WordEmbedder(), read=[])
    world = await open_world(again)
    await whole(world, 1)
    assert again.read == []


async def test_what_a_former_model_made_stays_for_who_asks_it_and_goes_a_day_later(
    open_world: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await open_world(WordEmbedder())
    await world.remember(ANA, "The gate is green.")
    await whole(world, 1)
    model = Slow()
    model.may.set()
    world = await open_world(model)
    await whole(world, 1)
    vectors = world.memory.entries.vectors
    assert vectors is not None
    await vectors.replaced.look()
    assert not await MemoryVectors(world.host, WordEmbedder()).is_empty()
    monkeypatch.setattr(replaced, "KEPT", timedelta(0))
    await vectors.replaced.look()
    assert await MemoryVectors(world.host, WordEmbedder()).is_empty()
    assert not await vectors.is_empty()
