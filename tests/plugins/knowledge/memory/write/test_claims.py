"""What is said again, by one person and by several, later and at the same moment."""

from typing import Any

import anyio
import pytest

from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.rights.access import caller_keys
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = pytest.mark.anyio


async def test_who_says_the_same_again_makes_it_surer(world: World) -> None:
    first = await world.remember(ANA, "The well is deep.", tags=["water"], confidence=0.6)
    again = await world.remember(
        ANA, "the  well is DEEP.", tags=["garden"], confidence=0.5, author="Old map"
    )
    assert again.id == first.id
    assert again.metadata.confidence == pytest.approx(0.8)
    assert again.metadata.tags == ("water", "garden")
    assert len(await world.found(ANA, "well deep")) == 1


@pytest.mark.parametrize("confidence", [None, 0.2, 0.4, 0.9])
async def test_what_is_said_again_keeps_its_id_and_its_history(
    world: World, confidence: float | None
) -> None:
    first = await world.remember(ANA, "The well is deep.", confidence=0.4, title="Well")
    stated: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    again = await world.remember(ANA, "The WELL is deep.", **stated, custom={"depth": 9})
    assert (again.id, again.version, again.metadata.title) == (first.id, 2, "Well")
    assert again.metadata.custom == {"depth": 9}
    assert again.metadata.confidence == max(0.4, confidence or 0.5), "one origin adds nothing"
    versions = await world.memory.reader.history(first.id, ANA)
    assert [each.number for each in versions] == [2, 1]
    for mode in ("keyword", "semantic", "hybrid"):
        assert await world.found(ANA, "well deep", mode=mode) == [again.content]
    assert await world.memory.entries.reads.read([first.id], caller_keys(ANA))


async def test_what_somebody_says_several_times_at_the_same_moment_is_one_entry(
    world: World,
) -> None:
    made: list[KnowledgeEntry] = []

    async def say(tag: str) -> None:
        made.append(await world.remember(ANA, "The well is deep.", tags=[tag]))

    async with anyio.create_task_group() as speaking:
        for number in range(5):
            speaking.start_soon(say, f"tag-{number}")
    assert len({each.id for each in made}) == 1
    (kept,) = (await world.ask(ANA, "well deep")).results
    assert len(kept.entry.metadata.tags) == 5, "each said something of its own"
    assert len(await world.memory.reader.history(kept.entry.id, ANA)) == 5


async def test_what_nobody_called_sure_stays_so_when_it_is_said_again(world: World) -> None:
    first = await world.remember(ANA, "The well is deep.")
    again = await world.remember(ANA, "The well is deep.")
    assert (again.id, again.metadata.confidence) == (first.id, None)


async def test_two_people_may_say_the_same(world: World) -> None:
    await world.remember(ANA, "The well is deep.")
    await world.remember(BEN, "The well is deep.")
    assert len(await world.found(ANA, "well")) == len(await world.found(BEN, "well")) == 1
