"""What a writer is told of what stands beside what they write, and which of two is the later."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.tools.entries import Kept
from tests.plugins.knowledge.memory.conftest import ANA, BEN, World
from tests.plugins.knowledge.memory.query.test_standing import standings
from tests.plugins.knowledge.memory.tools.test_tools import call

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}
LEADS = "Rita leads the tool library."


async def settled(world: World, id: str, target: str, decision: str) -> str:
    made = await call(world, "settle_memory", id=id, target=target, decision=decision)
    return str(made.status)


async def import_of(world: World, day: str, content: str, **more: Any) -> Kept:
    kept: Kept = await call(world, "remember", content=content, written_at=day, **more)
    return kept


@pytest.mark.parametrize("who", [ANA, BEN], ids=["for other readers", "by another person"])
async def test_the_same_words_that_stand_beside_are_named(world: World, who: Any) -> None:
    first = await world.remember(ANA, LEADS, SHARED)
    again = await call(world, "remember", who, content=LEADS)
    assert again.id != first.id
    assert [(each.id, each.why, each.seems) for each in again.near] == [
        (first.id, "it says the same", None)
    ]
    assert standings(await world.ask(ANA, LEADS)) == {LEADS: ""}


async def test_the_same_words_that_one_may_not_read_are_named_to_nobody(world: World) -> None:
    await call(world, "remember", content=LEADS)
    assert (await call(world, "remember", BEN, content=LEADS)).near == []


async def test_an_import_of_what_was_before_is_told_what_came_later(world: World) -> None:
    lyon = await import_of(world, "2025-06-01", "The main office of the club is in Lyon.")
    paris = await import_of(world, "2024-01-01", "The main office of the club is in Paris.")
    assert [(each.id, each.later) for each in paris.near] == [(lyon.id, True)]
    with pytest.raises(MemoryFailed, match=f"id={lyon.id}.*corrects") as refused:
        await settled(world, paris.id, lyon.id, "supersedes")
    assert refused.value.number is ErrorCode.CONFLICT
    with pytest.raises(MemoryFailed, match="is of 2024-02-01, before that one"):
        await import_of(world, "2024-02-01", "It is in Nice.", supersedes=[lyon.id])
    assert await settled(world, lyon.id, paris.id, "supersedes") == "done"
    told = {}
    for day in ("2025-12-01", "2024-06-01"):
        told[day] = await world.found(
            ANA, "where is the main office of the club", filters={"as_of": day}
        )
    assert told == {
        "2025-12-01": ["The main office of the club is in Lyon."],
        "2024-06-01": ["The main office of the club is in Paris."],
    }


async def test_what_is_earlier_may_correct_what_is_later(world: World) -> None:
    lyon = await import_of(world, "2025-06-01", "The main office of the club is in Lyon.")
    paris = await import_of(world, "2024-01-01", "The main office of the club is in Paris.")
    assert await settled(world, paris.id, lyon.id, "corrects") == "done"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"valid_from": "2026-02-20"}),
        ({"valid_from": "2026-09-01"}, {}),
        ({"event_at": "2026-03-05"}, {"event_at": "2026-03-03"}),
    ],
    ids=["noted before it was known", "a plan that is given up", "an event that is earlier now"],
)
async def test_what_is_said_later_supersedes_what_was_said_before(
    world: World, old: dict[str, Any], new: dict[str, Any]
) -> None:
    first = await call(world, "remember", content="The main office of the club is in Lyon.", **old)
    second = await call(
        world, "remember", content="The main office of the club is in Paris.", **new
    )
    assert await settled(world, second.id, first.id, "supersedes") == "done"


async def test_what_was_said_before_is_not_called_the_later_one(world: World) -> None:
    first = await call(world, "remember", content="The gate opens at nine.")
    second = await call(world, "remember", content="The gate opens at ten.")
    assert [(each.id, each.later) for each in second.near] == [(first.id, False)]
