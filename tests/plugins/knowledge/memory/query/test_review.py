"""The queue of what waits for a look, as the tool and the route show it."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.tools.backlog import backlog
from plugins.knowledge.memory.tools.standing import standing_tools
from tests.plugins.knowledge.memory.conftest import ANA, BEN, NOON, World
from tests.plugins.knowledge.memory.query.test_standing import relate, write
from tests.plugins.knowledge.retrieval.conftest import document

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
ADMIN = Caller("person:eve", Tier.MEMBERS, name="Eve", admin=True)


async def test_what_was_verified_against_a_note_waits_once_that_has_changed(world: World) -> None:
    note = document("practice/gate", "The gate opens at eight.", title="Gate")
    await world.base.put(note.model_copy(update={"commit_sha": "a1"}))
    made = await world.remember(ANA, "The lock needs oil.")
    await world.remember(ANA, "The roof leaks.")
    await world.memory.verify(made.id, ANA, "note:practice/gate")
    assert (await world.memory.review(ANA)).source_changed == []
    await world.base.put(note.model_copy(update={"content": "The gate opens at nine."}))
    (waiting,) = (await world.memory.review(ANA)).source_changed
    assert waiting.id == made.id
    assert (await world.memory.review(BEN)).source_changed == []


async def test_pairs_wait_whose_earlier_entry_still_holds(world: World) -> None:
    price = "The heating oil price is {} euros."
    one, two = [(await write(world, price.format(each))).entry for each in (90, 91)]
    await relate(world, two, "supersedes", one)
    last = await write(world, price.format(95))
    assert [each.id for each in last.near] == [two.id]
    (pair,) = (await world.memory.review(ANA)).pairs
    assert (pair.newer.id, pair.older.id) == (last.entry.id, two.id)
    ended = {"valid_until": f"{NOON - timedelta(days=1):%Y-%m-%d}"}
    await world.change(ANA, two.id, two.content, validity=ended)
    assert (await world.memory.review(ANA)).pairs == []
    assert (await write(world, price.format(99))).near[0].id == last.entry.id


async def test_an_end_that_somebody_may_not_see_leaves_the_pair_waiting(world: World) -> None:
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    old = await world.remember(BEN, "The gate of the garden is blue.", shared)
    new = await world.remember(ANA, "The gate of the garden is green.", shared)
    own = await world.remember(ANA, "The gate of the garden is red.")
    await relate(world, own, "supersedes", old)
    waiting = {
        who.name: {
            (each.newer.id, each.older.id) for each in (await world.memory.review(who)).pairs
        }
        for who in (ANA, BEN)
    }
    assert (new.id, old.id) in waiting["Ben"]
    assert (new.id, old.id) not in waiting["Ana"]


async def test_a_document_asks_its_author_and_admins_and_nobody_else(world: World) -> None:
    ended = str((NOON - timedelta(days=30)).date())
    await world.base.put(
        document("practice/a", "Bread.", author=[" ana "], valid_until=ended),
        document("practice/b", "Rolls.", valid_until=ended, tier=Tier.MEMBERS),
        document("practice/c", "Cake."),
    )
    asked = {
        who.name: [each.id for each in (await world.memory.review(who)).documents]
        for who in (ANA, BEN, ADMIN)
    }
    assert asked == {"Ana": ["practice/a"], "Ben": [], "Eve": ["practice/a", "practice/b"]}


async def test_an_admin_is_told_how_much_waits(world: World) -> None:
    ended = str((NOON - timedelta(days=30)).date())
    await world.base.put(document("practice/a", "Bread.", valid_until=ended))
    told = {each.many: each.count for each in await backlog(world.memory)(ADMIN)}
    assert told == {
        "pairs of memory's entries are at odds": 0,
        "entries of yours in memory want a look": 0,
        "documents want a look": 1,
    }


async def test_an_agent_has_the_queue_by_a_tool(world: World) -> None:
    (tool,) = (each for each in standing_tools(world.memory) if each.name == "review_memory")
    assert tool.args is not None
    found: Any = await tool.run(tool.args(), ANA)
    assert found.model_dump() == (await world.memory.review(ANA)).model_dump()


async def test_a_long_queue_is_told_and_goes_on(world: World) -> None:
    for number in range(53):
        await world.remember(ANA, f"Plot {number} belongs to family {number * 7 + 3}.")
    world.clock.time += timedelta(days=400)
    (tool,) = (each for each in standing_tools(world.memory) if each.name == "review_memory")
    assert tool.args is not None
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await tool.run(tool.args.model_validate({"offset": offset}), ANA)
        assert page.totals.unverified == 53
        seen += [each.id for each in page.unverified]
        offset = page.next_offset
    assert len(seen) == len(set(seen)) == 53
