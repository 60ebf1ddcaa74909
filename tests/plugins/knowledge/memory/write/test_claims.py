"""What is said again, by one person and by several, later and at the same moment."""

from typing import Any

import anyio
import pytest

from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.rights.access import caller_keys
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World
from tests.plugins.knowledge.memory.query.test_standing import write
from tests.plugins.knowledge.memory.upkeep.conftest import upkeep

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


async def test_what_was_so_before_and_is_so_again_is_two_entries(world: World) -> None:
    first = await as_said(world, "Noa leads the ferry crew.", "2026-01-10")
    between = await as_said(world, "In May the ferry crew went to Mira.", "2026-02-10")
    again = await as_said(world, "Noa leads the ferry crew.", "2026-02-20", supersedes=between)
    assert again.id != first.id
    assert not (await upkeep(world, minutes=10)).get("replaced")
    asked = {"filters": {"as_of": "2026-02-15"}}
    assert (await world.ask(ANA, "Noa ferry crew", **asked)).results[0].entry.id == between.id
    assert (await world.ask(ANA, "Noa ferry crew")).results[0].entry.id == again.id


async def test_what_corrects_what_came_between_was_so_all_along(world: World) -> None:
    first = await as_said(world, "Noa leads the ferry crew.", "2026-01-10")
    between = await as_said(world, "In May the ferry crew went to Mira.", "2026-02-10")
    again = await as_said(world, "Noa leads the ferry crew.", "2026-02-20", corrects=between)
    assert again.id == first.id


async def test_nothing_supersedes_itself_by_being_said_again(world: World) -> None:
    first = await as_said(world, "Noa leads the ferry crew.", "2026-01-10")
    again = await as_said(world, "Noa leads the ferry crew.", "2026-02-20", supersedes=first)
    assert again.id != first.id
    assert (await world.ask(ANA, "Noa ferry crew")).results[0].entry.id == again.id


async def test_the_same_words_with_another_end_are_named(world: World) -> None:
    words = "The guest pass is valid at the north gate."
    until = [{"valid_until": day} for day in ("2027-03-31", "2026-11-15")]
    first, second = [await write(world, words, validity=each) for each in until]
    assert second.entry.id != first.entry.id
    (near,) = second.near
    assert (near.id, near.seems) == (first.entry.id, None)
    assert near.why == "the same words, of another time"


async def as_said(
    world: World, content: str, day: str, **relations: KnowledgeEntry
) -> KnowledgeEntry:
    """What Ana says on a day, and how it goes together with what she said before."""
    related = [{"kind": kind, "target": each.id} for kind, each in relations.items()]
    at = f"{day}T09:00:00Z"
    return (await write(world, content, created_at=at, relations=related)).entry


async def test_what_nobody_called_sure_stays_so_when_it_is_said_again(world: World) -> None:
    first = await world.remember(ANA, "The well is deep.")
    again = await world.remember(ANA, "The well is deep.")
    assert (again.id, again.metadata.confidence) == (first.id, None)


async def test_two_people_may_say_the_same(world: World) -> None:
    await world.remember(ANA, "The well is deep.")
    await world.remember(BEN, "The well is deep.")
    assert len(await world.found(ANA, "well")) == len(await world.found(BEN, "well")) == 1
