"""What is said again stands once, whatever others keep for themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.knowledge.memory.conftest import ANA, BEN, World

pytestmark = pytest.mark.anyio

BOTH: dict[str, Any] = {"policy": "restricted", "approved_users": [ANA.person, BEN.person]}


async def test_what_somebody_else_keeps_for_themselves_is_at_odds_with_nothing_of_others(
    world: World,
) -> None:
    first = await world.remember(ANA, "The gate code is 1234.", BOTH)
    theirs = await world.say(BEN, "The gate code is 9876.")
    assert [each.id for each in theirs.near] == [first.id]
    again = await world.say(ANA, "The gate code is 1234.", BOTH)
    assert (again.status, again.entry.id, again.near) == ("updated", first.id, [])


async def test_what_both_may_read_is_at_odds_and_the_words_are_said_anew(world: World) -> None:
    first = await world.remember(ANA, "The gate code is 1234.", BOTH)
    await world.say(BEN, "The gate code is 9876.", BOTH)
    again = await world.say(ANA, "The gate code is 1234.", BOTH)
    assert again.status == "created"
    assert again.entry.id != first.id
