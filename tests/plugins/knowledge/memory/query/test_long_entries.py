"""What a long entry says in its midst and at its end is found by meaning as its beginning is."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.services.embedding.service import open_embedder
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    DeleteOptions,
    DeleteRequest,
    UpdateRequest,
)
from plugins.knowledge.memory.query.engine import COMPARED
from plugins.knowledge.memory.tools.entries import tools
from plugins.knowledge.memory.write.entries import LATE_NOTE
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Opener, World
from tests.plugins.knowledge.memory.test_faults import gone
from tests.plugins.knowledge.memory.upkeep.conftest import every_point, named, upkeep
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder

pytestmark = pytest.mark.anyio
assert gone
FILLING = "\n\n".join(
    f"Point {number}: the chairs of room {number} were counted, and all of them are there."
    for number in range(40)
)
FAILED = (
    "The server was down for an hour because its disk was full. Logs are deleted after a week "
    "from now on."
)
MINUTES = f"# Minutes\n\n{FILLING}\n\n{FAILED}"
MEANT = {"mode": "semantic", "options": {"limit": 1}}


async def later(world: World) -> list[tuple[int, int]]:
    """The version and the place of each later passage in the vector store."""
    points = await every_point(world)
    return sorted((one.version, one.passage) for one in points if one.passage)


async def is_whole(world: World) -> bool:
    """Whether every entry's later passages are all there."""
    return all(one.whole for one in await every_point(world) if one.passage == 0)


@pytest.mark.one_database
async def test_a_paraphrase_finds_the_end_of_a_long_entry_and_shows_it(open_world: Opener) -> None:
    world = await open_world(open_embedder("embedded"))
    await world.remember(ANA, MINUTES)
    tool = next(each for each in tools(world.memory) if each.name == "query_memory")
    assert tool.args is not None
    asked = tool.args.model_validate({"query": "storage ran out"})
    answer: Any = await tool.run(asked, ANA)
    (result,) = answer.results
    assert "its disk was full" in result.content


@pytest.fixture
async def words(open_world: Opener) -> World:
    """A memory whose model knows what storage is."""
    return await open_world(WordEmbedder(meanings={"storage": "disk", "ran": "full"}))


async def test_an_entry_that_is_near_in_many_places_is_one_answer_among_others(
    words: World,
) -> None:
    near = "\n\n".join(["The release failed. " * 19] * (COMPARED // 2))
    for number in range(3):
        await words.remember(ANA, f"{near} {number}")
    short = await words.remember(ANA, "Once a deployment stopped, and others too, in spring.")
    answer = await words.ask(ANA, "release failed", mode="semantic")
    assert len(answer.results) == 4
    assert answer.results[3].entry.id == short.id


async def test_a_version_has_its_own_passages_and_what_is_forgotten_has_none(words: World) -> None:
    entry = await words.remember(ANA, MINUTES)
    first = await later(words)
    assert {version for version, _ in first} == {1}
    await words.change(ANA, entry.id, f"{MINUTES}\n\nThe storage is of oak.")
    assert {version for version, _ in await later(words)} == {2}
    await words.change(ANA, entry.id, "The storage is of oak.")
    assert await later(words) == []
    assert "storage is of oak" in (await words.found(ANA, "disk oak", **MEANT))[0]
    await words.change(ANA, entry.id, MINUTES)
    assert len(await later(words)) == len(first)
    removal = DeleteRequest(id=entry.id, options=DeleteOptions(hard_delete=True))
    await words.memory.entries.delete(removal, ANA)
    assert await every_point(words) == []
    assert "knowledge_embeddings" not in await named(words, entry.id)


class Busy(WordEmbedder):
    """A model that has no time for later passages while it is busy."""

    is_busy = True

    async def passages(self, texts: Sequence[str]) -> Any:
        if self.is_busy and not all("Minutes" in text for text in texts):
            await asyncio.Event().wait()
        return await super().passages(texts)


async def test_what_is_written_is_answered_before_a_busy_model_has_read_all_of_it(
    open_world: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.knowledge.memory.store.vectors.PASSAGES_S", 0.05)
    model = Busy(meanings={"storage": "disk", "ran": "full"})
    world = await open_world(model)
    request = CreateRequest.model_validate({"entry": {"content": MINUTES}})
    made = await world.memory.entries.create(request, ANA)
    assert (made.status, made.note) == ("created", LATE_NOTE)
    assert await world.found(ANA, "Minutes", **MEANT) == [MINUTES]
    assert await world.found(ANA, "disk was full", mode="keyword") == [MINUTES]
    change = UpdateRequest.model_validate({"entry": {"content": f"{MINUTES} Always."}})
    changed = await world.memory.entries.update(made.entry.id, change, ANA)
    assert (changed.status, changed.note) == ("updated", LATE_NOTE)
    assert {one.version for one in await every_point(world)} == {2}
    assert not await is_whole(world)
    model.is_busy = False
    monkeypatch.setattr("plugins.knowledge.memory.store.vectors.PASSAGES_S", 60.0)
    assert await upkeep(world, minutes=10) == {"filled": 1}
    assert await is_whole(world)
    assert await world.found(ANA, "storage ran out", **MEANT) == [f"{MINUTES} Always."]
    again = await world.memory.entries.update(made.entry.id, change, ANA)
    assert again.note is None


async def test_nobody_finds_a_passage_of_what_they_may_not_read(words: World) -> None:
    await words.remember(ANA, MINUTES)
    assert await words.found(ANA, "storage ran out", **MEANT) == [MINUTES]
    assert await words.found(BEN, "storage ran out", **MEANT) == []


async def test_passages_that_a_store_lost_are_put_back_without_the_model(words: World) -> None:
    await words.remember(ANA, MINUTES)
    before = sorted(await every_point(words))
    vectors, model = words.memory.entries.vectors, words.host.embedder
    assert vectors is not None
    assert isinstance(model, WordEmbedder)
    for one in before:
        await vectors.drop(one.collection, [(one.entry, one.version)])
    model.read.clear()
    assert await upkeep(words, minutes=10) == {"filled": 1}
    assert sorted(await every_point(words)) == before
    assert model.read == []
    assert await upkeep(words, minutes=10) == {}


async def test_an_entry_of_a_release_that_embedded_beginnings_alone_gets_its_passages(
    words: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr("plugins.knowledge.memory.store.vectors.ONE_PASSAGE", len(MINUTES))
        await words.remember(ANA, MINUTES)
    await words.remember(ANA, "The gate is green.")
    assert await later(words) == []
    assert await upkeep(words, minutes=10) == {"filled": 1}
    assert len(await later(words)) > 2
    assert await upkeep(words, minutes=10) == {}


async def test_what_a_broken_model_did_not_read_is_made_up_for(
    words: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = words.host.embedder
    assert isinstance(model, WordEmbedder)
    read, count = model.passages, 0

    async def once(texts: Any) -> Any:
        nonlocal count
        count += 1
        if count > 1:
            raise RuntimeError("the model is gone")
        return await read(texts)

    with monkeypatch.context() as broken:
        broken.setattr(WordEmbedder, "passages", lambda _, texts: once(texts))
        await words.remember(ANA, MINUTES)
    assert await later(words) == []
    assert await words.found(ANA, "minutes chairs", **MEANT) == [MINUTES]
    assert await upkeep(words, minutes=10) == {"filled": 1}
    assert await words.found(ANA, "storage ran out", **MEANT) == [MINUTES]
