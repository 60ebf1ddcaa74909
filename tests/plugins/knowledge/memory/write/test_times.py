"""What is said again, or told late, keeps the time that it speaks of."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from plugins.knowledge.memory.model.requests import CreateRequest, RelationDraft, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse, QueryResponse
from plugins.knowledge.memory.model.validity import ANY_TIME, Relation
from tests.plugins.knowledge.memory.conftest import ANA, BEN, NOON, World
from tests.plugins.knowledge.memory.upkeep.conftest import upkeep

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}


async def write(
    world: World,
    content: str,
    who: Any = ANA,
    layer: str = "semantic",
    agent: str | None = None,
    **entry: Any,
) -> CreateResponse:
    options = {"layer": {"type": layer, "agent_id": agent}}
    request = CreateRequest.model_validate(
        {"entry": {"content": content, **entry}, "options": options}
    )
    return await world.memory.governed.create(request, who)


def marks(answer: QueryResponse) -> dict[str, str]:
    return {
        each.entry.content: "" if each.standing is None else each.standing.text
        for each in answer.results
    }


def day(number: int) -> str:
    """A day so many days from now."""
    return (NOON + timedelta(days=number)).isoformat()


ENDED = {"valid_from": day(-90), "valid_until": day(-30)}


async def test_what_is_said_again_in_working_memory_stands_there_once(world: World) -> None:
    first = await write(world, "The lamp is lit.", layer="working", metadata={"tags": ["lamp"]})
    again = await write(world, "the lamp  is LIT.", layer="working", metadata={"tags": ["light"]})
    assert (again.status, again.entry.id) == ("updated", first.entry.id)
    assert set(again.entry.metadata.tags) == {"lamp", "light"}
    assert await world.found(ANA, "lamp", layer={"types": ["working"]}) == ["the lamp  is LIT."]
    other = await write(world, "The lamp is lit.", BEN, layer="working")
    assert (other.status, other.entry.id != first.entry.id) == ("created", True)


@pytest.mark.parametrize("layer", ["working", "session"])
async def test_what_two_agents_note_is_found_by_each(world: World, layer: str) -> None:
    for agent in ("one", "two", "two"):
        await write(world, "The lamp is lit.", layer=layer, agent=agent)
    for agent in ("one", "two"):
        of = {"types": [layer], "agent_id": agent}
        assert await world.found(ANA, "lamp", layer=of) == ["The lamp is lit."]


@pytest.mark.parametrize(
    ("kept", "said", "layer"),
    [
        (ENDED, {"valid_from": day(-1)}, "semantic"),
        (ENDED, {}, "semantic"),
        ({"event_at": day(-9)}, {"event_at": day(-2)}, "episodic"),
        ({"event_at": day(-9)}, {"valid_until": day(-30)}, "semantic"),
        ({"valid_from": day(-9)}, {"valid_until": day(-30)}, "semantic"),
        ({"valid_from": day(30)}, {}, "semantic"),
        ({}, {"valid_from": day(30)}, "semantic"),
        (ENDED, {}, "working"),
    ],
)
async def test_the_same_words_about_another_time_are_another_entry(
    world: World, kept: dict[str, str], said: dict[str, str], layer: str
) -> None:
    first = await write(world, "The sauna costs 8 euros.", layer=layer, validity=kept)
    second = await write(world, "The sauna costs 8 euros.", layer=layer, validity=said)
    assert (first.status, second.status) == ("created", "created")
    assert first.entry.id != second.entry.id
    assert "replaced" not in await upkeep(world, minutes=10)
    for made in (first, second):
        entry = await world.memory.entries.found(made.entry.id, ANA)
        assert entry.validity == (made.entry.validity or ANY_TIME)


async def test_a_fact_that_is_told_on_two_days_is_one_fact(world: World) -> None:
    first = await write(world, "Ana prefers tea.", validity={"event_at": day(-9)})
    second = await write(world, "Ana prefers tea.", validity={"event_at": day(-2)})
    assert (second.status, second.entry.id) == ("updated", first.entry.id)


async def test_an_end_that_is_said_later_ends_the_entry(world: World) -> None:
    first = await write(world, "The sauna costs 8 euros.")
    second = await write(world, "The sauna costs 8 euros.", validity={"valid_until": day(1)})
    assert (second.status, second.entry.id) == ("updated", first.entry.id)
    assert second.entry.validity is not None
    assert (await world.memory.entries.found(first.entry.id, ANA)).validity.valid_until == (
        NOON + timedelta(days=1)
    )
    third = await write(world, "The sauna costs 8 euros.")
    assert third.entry.id == first.entry.id
    assert third.entry.validity == second.entry.validity


async def test_a_fact_of_now_that_is_given_an_end_before_held_before_it(world: World) -> None:
    await write(world, "The sauna costs 8 euros.")
    again = await write(world, "The sauna costs 8 euros.", validity={"valid_until": day(-30)})
    assert again.status == "updated"
    found = await world.found(ANA, "sauna costs", filters={"as_of": day(-60)})
    assert found == ["The sauna costs 8 euros."]


@pytest.mark.parametrize(
    ("current", "earlier"),
    [
        ({"event_at": day(-9)}, {"event_at": day(-300)}),
        ({"valid_from": day(-9)}, {"valid_from": day(-300)}),
        ({}, {"valid_from": day(-300), "valid_until": day(-30)}),
    ],
)
async def test_what_is_told_late_of_an_earlier_time_replaces_nothing(
    world: World, current: dict[str, str], earlier: dict[str, str]
) -> None:
    new = await write(world, "The code of the gate is 1111.", validity=current)
    old = await write(world, "The code of the gate is 2222.", validity=earlier)
    assert [each.seems for each in old.near] == [None]
    answer = await world.ask(ANA, "code of the gate 2222")
    assert next(each.entry.content for each in answer.results) == new.entry.content
    said = marks(answer)
    assert said[new.entry.content] == ""
    assert said[old.entry.content]


async def test_opening_an_entry_that_ends_one_of_others_waits_for_a_person(world: World) -> None:
    shared = await world.remember(ANA, "The code of the gate is 1111.", SHARED)
    own = await world.remember(BEN, "The code of the gate is 2222.")
    draft = RelationDraft(kind=Relation.BOTH_HOLD, target=shared.id)
    assert (await world.memory.governed.relate(own.id, draft, BEN)).status == "done"
    mine = await world.remember(ANA, "The code of the gate is 3333.")
    draft = RelationDraft(kind=Relation.SUPERSEDES, target=shared.id)
    assert (await world.memory.governed.relate(mine.id, draft, ANA)).status == "done"
    request = UpdateRequest.model_validate(
        {"entry": {"content": mine.content}, "options": {"access_policy": SHARED}}
    )
    opened = await world.memory.governed.update(mine.id, request, ANA)
    assert opened.status == "pending_approval"
    assert marks(await world.ask(BEN, "code of the gate 1111"))[shared.content] == ""


async def test_who_may_no_longer_read_what_they_ended_cannot_show_that_alone(world: World) -> None:
    shared = await world.remember(ANA, "The code of the gate is 1111.", SHARED)
    own = await world.remember(BEN, "The code of the gate is 2222.")
    draft = RelationDraft(kind=Relation.SUPERSEDES, target=shared.id)
    assert (await world.memory.governed.relate(own.id, draft, BEN)).status == "done"
    left = replace(BEN, groups=frozenset())
    request = UpdateRequest.model_validate(
        {"entry": {"content": own.content}, "options": {"access_policy": SHARED}}
    )
    opened = await world.memory.governed.update(own.id, request, left)
    assert opened.status == "pending_approval"
    assert marks(await world.ask(ANA, "code of the gate 1111"))[shared.content] == ""
