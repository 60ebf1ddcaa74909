"""Of what came to say the same after it was written one is kept, and nothing of it is lost."""

from typing import Any

import pytest

from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.requests import RelationDraft, UpdateRequest
from plugins.knowledge.memory.model.validity import Relation
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, World
from tests.plugins.knowledge.memory.upkeep.conftest import points, upkeep

pytestmark = pytest.mark.anyio

GARDEN = {"policy": "shared", "allowed_teams": ["garden"]}


async def test_two_entries_that_came_to_say_the_same_become_one(world: World) -> None:
    first = await world.remember(ANA, "The well is dry.", confidence=0.6, tags=["water"])
    other = await world.remember(
        ANA, "The well is deep.", confidence=0.5, tags=["garden"], author="Old map"
    )
    for _ in range(3):
        await world.memory.reader.entry(other.id, ANA)
    changed = {"content": "the WELL is  dry.", "metadata": {**other.metadata.model_dump()}}
    await world.keep(other.id, UpdateRequest.model_validate({"entry": changed}), ANA)
    assert await upkeep(world, minutes=10) == {"replaced": 1}
    winner = await world.memory.reader.entry(first.id, ANA)
    assert winner.metadata.confidence == pytest.approx(0.8)
    assert winner.metadata.tags == ("water", "garden")
    assert winner.uses == 3
    with pytest.raises(MemoryFailed):
        await world.memory.reader.entry(other.id, ANA)
    (audit_record, *_) = await world.memory.entries.audit.of(other.id)
    assert (audit_record.person, audit_record.operation, audit_record.about) == (
        "upkeep",
        "replace",
        first.id,
    )
    for mode in ("keyword", "semantic", "hybrid"):
        assert await world.found(ANA, "well", mode=mode) == ["The well is dry."]
    assert await points(world) == [("memory", first.id, 2)]


async def test_entries_of_others_or_for_others_stay_beside_each_other(world: World) -> None:
    await world.remember(ANA, "The well is dry.")
    await world.remember(BEN, "The well is dry.")
    await world.remember(ANA, "The well is dry.", "public")
    await world.remember(ANA, "The well is dry.", layer="user")
    assert await upkeep(world, minutes=10) == {}
    assert len(await world.found(ANA, "well")) == 3


async def test_what_the_one_that_goes_had_ended_stays_ended(world: World) -> None:
    await world.remember(ANA, "The well is dry.", confidence=0.9)
    twin = await world.remember(ANA, "The well is deep.", confidence=0.5)
    old = await world.remember(ANA, "The spring has water.")
    draft = RelationDraft(kind=Relation.SUPERSEDES, target=old.id)
    assert (await world.memory.governed.relate(twin.id, draft, ANA)).status == "done"
    await world.change(ANA, twin.id, "The well is dry.")
    assert await upkeep(world, minutes=10) == {"replaced": 1}
    (found,) = (await world.ask(ANA, "spring water")).results[-1:]
    assert found.entry.id == old.id
    assert found.standing is not None
    assert not found.standing.holds


async def test_two_agents_notes_of_a_session_stay_beside_each_other(world: World) -> None:
    for agent in ("one", "two"):
        await world.remember(ANA, "The well is dry.", layer="session", agent=agent)
    assert await upkeep(world, minutes=10) == {}


async def test_what_a_person_is_asked_about_is_left_as_it_is(world: World) -> None:
    first = await world.remember(ANA, "Open at nine.", "organization")
    other = await world.remember(ANA, "Open at ten.", "organization")
    await world.change(ANA, other.id, "Open at nine.")
    changed = {"entry": {"content": "Open at one."}, "governance": {"require_approval": True}}
    asked = UpdateRequest.model_validate(changed)
    waits = (await world.memory.governed.update(first.id, asked, ANA)).approval_required
    assert waits is not None
    assert await upkeep(world, minutes=10) == {}
    await world.memory.approvals.decide(waits.request_id, CY, approve=False)
    assert await upkeep(world, minutes=10) == {"replaced": 1}


@pytest.mark.parametrize(
    ("policy", "replaced"), [("private", {"replaced": 1}), ("organization", {}), (GARDEN, {})]
)
async def test_what_others_keep_for_themselves_is_at_odds_with_nothing(
    world: World, policy: Any, replaced: dict[str, int]
) -> None:
    await world.remember(ANA, "The gate code is 1234.", "public")
    other = await world.remember(ANA, "The depot is shut.", "public")
    await world.remember(CY, "The gate code is 9876.", policy)
    await world.change(ANA, other.id, "The gate code is 1234.")
    assert await upkeep(world, minutes=10) == replaced
