"""An entry that says something else goes together with others as its new words do."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.knowledge.memory.model.requests import CreateRequest, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.model.validity import Relation
from tests.plugins.knowledge.memory.conftest import ANA, Opener, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def say(world: World, content: str, **entry: Any) -> CreateResponse:
    request = CreateRequest.model_validate({"entry": {"content": content, **entry}})
    return await world.memory.governed.create(request, ANA)


async def revise(world: World, said: CreateResponse, content: str) -> CreateResponse:
    request = UpdateRequest.model_validate({"entry": {"content": content}})
    return await world.memory.governed.update(said.entry.id, request, ANA)


async def told(world: World, question: str) -> dict[str, str]:
    """What is found, in order, with what is said of whether it holds."""
    return {
        each.entry.content: "" if each.standing is None else each.standing.text
        for each in (await world.ask(ANA, question)).results
    }


def superseding(said: CreateResponse) -> list[dict[str, str]]:
    return [{"kind": "supersedes", "target": said.entry.id}]


async def test_the_newest_word_goes_first_though_it_is_a_version_of_the_oldest_entry(
    world: World,
) -> None:
    first = await say(world, "The code of the gate is 1111.")
    second = await say(world, "The code of the gate is 2222.")
    (near,) = (await revise(world, first, "The code of the gate is 3333.")).near
    assert (near.id, near.seems) == (second.entry.id, Relation.SEEMS_TO_REPLACE)
    assert await told(world, "code of the gate") == {
        "The code of the gate is 3333.": "",
        "The code of the gate is 2222.": f"seems replaced by {first.entry.id}",
    }


async def test_without_a_model_versions_are_compared_by_their_words(open_world: Opener) -> None:
    world = await open_world()
    first = await say(world, "The code of the gate is 1111.")
    second = await say(world, "The code of the gate is 2222.")
    (near,) = (await revise(world, first, "The code of the gate is 3333.")).near
    assert (near.id, near.seems) == (second.entry.id, Relation.SEEMS_TO_REPLACE)


async def test_what_ended_an_entry_was_said_of_its_former_words(world: World) -> None:
    red = await say(world, "The lamp of the cellar is red.")
    green = await say(world, "The lamp of the cellar is green.", relations=superseding(red))
    note = (await revise(world, red, "The lamp of the cellar is purple.")).note
    assert note is not None
    assert note.startswith(f"{green.entry.id} had ended it")
    answer = await told(world, "lamp of the cellar")
    assert next(iter(answer.items())) == ("The lamp of the cellar is purple.", "")
    assert answer["The lamp of the cellar is green."] == f"seems replaced by {red.entry.id}"


async def test_who_rewords_what_is_over_is_told_of_nothing(world: World) -> None:
    red = await say(world, "The lamp of the cellar is red.")
    await say(world, "The lamp of the cellar is green.", relations=superseding(red))
    assert (await revise(world, red, "The lamp down in the cellar is red.")).note is None


async def test_what_speaks_of_something_else_now_ends_nothing_and_answers_for_nothing(
    world: World,
) -> None:
    red = await say(world, "The lamp of the cellar is red.")
    green = await say(world, "The lamp of the cellar is green.", relations=superseding(red))
    await revise(world, green, "Tuesday brought nice weather.")
    answer = await told(world, "lamp of the cellar")
    assert next(iter(answer.items())) == ("The lamp of the cellar is red.", "")


@pytest.mark.parametrize("better", ["The lamp of the cellar is blue.", "The lamp is blue now."])
async def test_what_ends_another_goes_on_doing_so_with_another_value(
    world: World, better: str
) -> None:
    red = await say(world, "The lamp of the cellar is red.")
    green = await say(world, "The lamp of the cellar is green.", relations=superseding(red))
    await revise(world, green, better)
    marked = (await told(world, "lamp of the cellar"))["The lamp of the cellar is red."]
    assert marked.startswith(f"superseded by {green.entry.id}")


@pytest.mark.parametrize("better", ["The lamp of the celler is red.", "The cellar's lamp is red!"])
async def test_a_slip_of_the_pen_that_is_mended_changes_nothing(world: World, better: str) -> None:
    red = await say(world, "The lamp of the cellar is red.")
    green = await say(world, "The lamp of the cellar is green.", relations=superseding(red))
    await revise(world, red, better)
    marked = (await told(world, "lamp of the cellar"))[better]
    assert marked.startswith(f"superseded by {green.entry.id}")
