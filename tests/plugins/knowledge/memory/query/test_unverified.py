"""What nobody has looked at for long is marked, whatever was changed around its words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.plugins.knowledge.memory.conftest import ANA, World
from tests.plugins.knowledge.memory.query.test_standing import standings
from tests.plugins.knowledge.memory.tools.test_tools import call

pytestmark = pytest.mark.anyio
LAMP = "The shed lamp is broken."
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}


async def marked(world: World, content: str = LAMP) -> bool:
    """Whether an answer says that nobody has looked for long, and the review queue has it."""
    waiting = {each.content for each in (await world.memory.review(ANA)).unverified}
    said = "not verified for" in standings(await world.ask(ANA, content))[content]
    assert said == (content in waiting)
    return said


async def test_other_tags_and_readers_are_no_look(world: World) -> None:
    entry = await world.remember(ANA, LAMP)
    world.clock.time += timedelta(days=400)
    assert await marked(world)
    await call(world, "update_memory", id=entry.id, tags=["shed"])
    assert await marked(world)
    await world.open(ANA, entry.id, LAMP, SHARED)
    assert await marked(world)
    await call(world, "verify_memory", id=entry.id)
    await call(world, "update_memory", id=entry.id, tags=["lamp"])
    assert not await marked(world)


async def test_other_words_and_the_same_said_again_are_a_look(world: World) -> None:
    entry = await world.remember(ANA, "The shed lamp flickers.")
    await call(world, "update_memory", id=entry.id, tags=["shed"])
    world.clock.time += timedelta(days=400)
    await world.change(ANA, entry.id, LAMP)
    assert not await marked(world)
    await call(world, "update_memory", id=entry.id, tags=["lamp"])
    world.clock.time += timedelta(days=400)
    assert await marked(world)
    await call(world, "remember", content=LAMP)
    assert not await marked(world)


@pytest.mark.parametrize(
    ("more", "looked_for"),
    [({}, True), ({"layer": "episodic"}, False), ({"event_at": "2024-01-01"}, False)],
    ids=["a fact", "what happened", "what happened on a day"],
)
async def test_what_happened_needs_no_look(
    world: World, more: dict[str, Any], looked_for: bool
) -> None:
    walnut = "We planted a walnut at plot 3."
    await call(world, "remember", content=walnut, written_at="2024-01-02", **more)
    assert await marked(world, walnut) == looked_for
