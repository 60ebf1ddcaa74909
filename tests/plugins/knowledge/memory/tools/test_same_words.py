"""Who forgets what a conversation left is told where the same words still are."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.knowledge.memory.algorithms.extraction import Turn
from tests.plugins.knowledge.memory.conftest import ANA, World
from tests.plugins.knowledge.memory.tools.test_tools import call

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def talk(world: World) -> tuple[str, str]:
    """Keep a conversation of one turn; the ids of that, and of what was found in it."""
    said = Turn("Ana", "I prefer peanuts with tea.", None)
    kept = await world.memory.conversations([said], ANA, "talk")
    (turn,), (found,) = kept.turns, kept.found
    return turn, found.id


def named(gone: Any) -> list[tuple[str, str]]:
    return [(each.id, each.content) for each in gone.same_words]


@pytest.mark.parametrize("hard", [False, True])
async def test_who_forgets_a_fact_is_told_of_its_turn(world: World, hard: bool) -> None:
    turn, fact = await talk(world)
    gone = await call(world, "forget", id=fact, hard=hard)
    assert named(gone) == [(turn, "Ana: I prefer peanuts with tea.")]
    assert named(await call(world, "forget", id=turn, hard=hard)) == []
    assert await world.found(ANA, "peanuts with tea") == []


@pytest.mark.parametrize("hard", [False, True])
async def test_who_forgets_a_turn_is_told_of_its_facts(world: World, hard: bool) -> None:
    turn, fact = await talk(world)
    assert (await call(world, "get_memory", id=fact)).turn == turn
    gone = await call(world, "forget", id=turn, hard=hard)
    assert [id for id, _ in named(gone)] == [fact]
    assert (await call(world, "get_memory", id=fact)).turn is None


async def test_what_comes_from_no_conversation_stands_alone(world: World) -> None:
    await talk(world)
    kept = await call(world, "remember", content="The gate is blue.")
    moment = await call(world, "remember", content="The gate is open.", layer="working")
    assert named(await call(world, "forget", id=kept.id)) == []
    assert named(await call(world, "forget", id=moment.id)) == []


async def test_what_is_forgotten_can_be_erased_and_its_turn_is_named_again(world: World) -> None:
    turn, fact = await talk(world)
    await call(world, "forget", id=fact)
    gone = await call(world, "forget", id=fact, hard=True)
    assert (gone.forgotten, [id for id, _ in named(gone)]) == (True, [turn])
