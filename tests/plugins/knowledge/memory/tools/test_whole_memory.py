"""An entry that is read, or listed, says whether it holds, and all that is known of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plugins.knowledge.memory.tools.entries import tools
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
NEW = "The sauna heater is wood-fired."


async def call(world: World, name: str, who: Any = ANA, /, **args: Any) -> Any:
    tool = next(each for each in tools(world.memory) if each.name == name)
    assert tool.args is not None
    return await tool.run(tool.args.model_validate(args), who)


async def listed(world: World, who: Any = ANA) -> dict[str, str | None]:
    """What the list says of the standing of each entry."""
    listing = await call(world, "list_memory", who)
    return {each.id: each.standing for each in await listing.ready(listing.items)}


async def test_what_is_superseded_says_so_where_it_is_read_and_listed(world: World) -> None:
    old = await call(world, "remember", content="The sauna heater is electric.")
    new = await call(world, "remember", content=NEW, supersedes=[old.id])
    read = await call(world, "get_memory", id=old.id)
    assert read.standing is not None
    assert not read.standing.holds
    assert read.standing.superseded_by == [new.id]
    assert read.standing.text.startswith(f"superseded by {new.id}; held until ")
    assert (await call(world, "get_memory", id=new.id)).standing is None
    assert await listed(world) == {old.id: read.standing.text, new.id: None}


async def test_what_one_may_not_read_makes_no_mark_where_an_entry_is_read_or_listed(
    world: World,
) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    old = await world.remember(ANA, "The sauna heater is electric.", shared)
    new = await call(world, "remember", content=NEW, supersedes=[old.id])
    assert new.status == "created"
    assert (await call(world, "get_memory", id=old.id)).standing is not None
    assert (await call(world, "get_memory", BEN, id=old.id)).standing is None
    assert await listed(world, BEN) == {old.id: None}


async def test_an_entry_says_when_it_holds_and_how_sure_it_is(world: World) -> None:
    days = {"event_at": "2026-01-01", "valid_from": "2026-01-02", "valid_until": "2026-02-01"}
    kept = await call(
        world, "remember", content="The sauna is shut.", confidence=0.7, importance=0.2, **days
    )
    read = await call(world, "get_memory", id=kept.id)
    assert {name: f"{getattr(read, name):%Y-%m-%d}" for name in days} == days
    assert (read.confidence, read.importance) == (0.7, 0.2)
    assert (await listed(world))[kept.id] == "held until 2026-02-01"


async def test_answers_and_lists_say_when_it_happens_and_holds(world: World) -> None:
    dated = {"event_at": "2026-01-01", "valid_from": "2026-01-02", "valid_until": "2027-02-01"}
    broken = await call(world, "remember", content="Ana broke her arm while skating.", **dated)
    turn = {"speaker": "Ben", "text": "The ice was thin.", "at": "2026-01-05"}
    await call(world, "remember_conversation", name="the ice", turns=[turn])
    await call(world, "remember", content="Skating needs no arm.")
    asked = await call(world, "query_memory", query="When did Ana break her arm? Was the ice thin?")
    (shown,) = (each for each in asked.results if each.id == broken.id)
    assert {name: f"{getattr(shown, name):%Y-%m-%d}" for name in dated} == dated
    brief = asked.brief()
    assert "by you; event 2026-01-01; holds from 2026-01-02; holds until 2027-02-01]" in brief
    assert "said 2026-01-05]" in brief
    listing = await call(world, "list_memory")
    entries = {each.content: each for each in await listing.ready(listing.items)}
    assert f"{entries['Ben: The ice was thin.'].said_at:%Y-%m-%d}" == "2026-01-05"
    assert f"{entries['Ana broke her arm while skating.'].valid_until:%Y-%m-%d}" == "2027-02-01"
    undated = entries["Skating needs no arm."].model_dump(exclude_none=True)
    assert undated.keys().isdisjoint(dated)


async def test_an_end_that_the_standing_tells_is_told_once(world: World) -> None:
    await call(world, "remember", content="The sauna is shut.", valid_until="2026-03-20")
    world.clock.time += timedelta(days=30)
    asked = await call(world, "query_memory", query="sauna shut")
    assert asked.brief().count("until 2026-03-20") == 1


async def test_an_entry_says_who_last_verified_it_when_and_against_what(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    kept = await world.remember(ANA, "The sauna is warm.", shared)
    assert (await call(world, "get_memory", id=kept.id)).verified is None
    looked = await call(world, "verify_memory", id=kept.id, against="the thermometer")
    for who, by in ((ANA, "you"), (BEN, "Ana")):
        seen = (await call(world, "get_memory", who, id=kept.id)).verified
        assert (seen.by, seen.at, seen.against) == (by, looked.at, "the thermometer")


async def test_what_a_conversation_says_leads_to_the_turn_that_says_it(world: World) -> None:
    said = "We decided to heat the sauna with wood."
    turns = [{"speaker": "Ana", "text": said}]
    kept = await call(world, "remember_conversation", name="the sauna", turns=turns)
    (found,) = kept.found
    read = await call(world, "get_memory", id=found.id)
    assert read.turn == found.turn
    assert said in (await call(world, "get_memory", id=read.turn)).content


async def test_what_somebody_else_writes_into_that_field_leads_nowhere(world: World) -> None:
    entry = await world.remember(ANA, "The sauna is warm.", custom={"from": "a letter"})
    assert (await call(world, "get_memory", id=entry.id)).turn is None


async def test_the_day_on_which_something_was_said_is_not_told_as_that_of_the_event(
    world: World,
) -> None:
    turn = {"speaker": "Mia", "text": "The lease starts on 1 September 2026.", "at": "2026-03-02"}
    kept = await call(world, "remember_conversation", name="lease", turns=[turn])
    await call(world, "remember", content="Mia signed the lease.", event_at="2026-03-01")
    asked = await call(world, "query_memory", query="When does the lease of Mia start?")
    brief = asked.brief()
    assert brief.count("said 2026-03-02]") == 1  # of the turn and what was found in it one
    assert "event 2026-03-02" not in brief
    assert "by you; event 2026-03-01]" in brief
    for id in (kept.turns[0], kept.found[0].id):
        read = await call(world, "get_memory", id=id)
        assert (f"{read.said_at:%Y-%m-%d}", read.event_at) == ("2026-03-02", None)
