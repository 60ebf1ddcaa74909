"""Pages of answers are parts of one list, and a mode is the mode of all layers."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.knowledge.memory.algorithms.relevance import FLOOR
from plugins.knowledge.memory.model.requests import DeleteRequest, QueryRequest
from tests.plugins.knowledge.memory.conftest import ANA, Opener, World
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder, document

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
ASKED = "Where are the fireworks stored?"


@pytest.fixture
async def moved(world: World) -> list[str]:
    """What was said of one thing in turn, the third of it forgotten; the newest last."""
    said = [f"The fireworks are stored in shed {each}." for each in "ABCD"]
    kept = [await world.remember(ANA, each) for each in said]
    forgotten = DeleteRequest.model_validate({"id": kept[2].id})
    await world.memory.entries.delete(forgotten, ANA)
    for number in range(20):
        await world.remember(ANA, f"The lanterns are stored in cellar {number}.")
    return [said[0], said[1], said[3]]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
async def test_what_comes_first_does_not_hang_on_how_many_are_asked_for(
    world: World, moved: list[str], limit: int
) -> None:
    whole = await world.ask(ANA, ASKED, options={"limit": 30})
    some = await world.ask(ANA, ASKED, options={"limit": limit})
    assert some.results[0].entry.content == moved[-1]
    assert some.metadata.total_results == whole.metadata.total_results
    assert [each.entry.id for each in some.results] == [
        each.entry.id for each in whole.results[:limit]
    ]


async def test_pages_have_every_answer_once(world: World, moved: list[str]) -> None:
    whole = await world.ask(ANA, ASKED, options={"limit": 30})
    pages = [
        (await world.ask(ANA, ASKED, options={"limit": 4, "offset": offset})).results
        for offset in range(0, 30, 4)
    ]
    turned = [each.entry.id for page in pages for each in page]
    assert turned == [each.entry.id for each in whole.results]
    assert {*moved} <= {each.entry.content for page in pages for each in page}


async def test_by_words_alone_the_notes_are_asked_by_words_too(world: World) -> None:
    await world.base.put(document("pattern/cells", "A cell decides alone.", title="Cells"))
    await world.remember(ANA, "The kumquat stands behind the boiler.")
    assert await world.found(ANA, "kumquat", mode="keyword") == [
        "The kumquat stands behind the boiler."
    ]


@pytest.mark.parametrize("model", [WordEmbedder, None])
async def test_a_word_in_a_long_entry_is_an_answer(open_world: Opener, model: Any) -> None:
    world = await open_world(model and model())
    told = " ".join(
        f"On day {day} somebody swept stair {day} and lit lamp {day}." for day in range(90)
    )
    long = f"{told} The kumquat statue stands behind the boiler. {told}"
    await world.remember(ANA, long)
    for number in range(30):
        await world.remember(ANA, f"Statue {number} stands beside lamp {number}.")
    for asked, mode in (("kumquat", "hybrid"), ("kumquat statue", "keyword")):
        request = QueryRequest.model_validate({"query": asked, "mode": mode})
        answer = await world.memory.query(request, ANA, floor=FLOOR)
        assert answer.results[0].entry.content == long
