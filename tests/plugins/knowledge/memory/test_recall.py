"""What a question is answered with: what fits, what is only near, and where only words count."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.services.embedding import open_embedder
from plugins.knowledge.memory.access import keys
from tests.plugins.knowledge.memory.conftest import ANA, Opener, World

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def model() -> Any:
    """The model that a portal ships with."""
    return open_embedder("embedded")


@pytest.fixture
async def real(open_world: Opener, model: Any) -> World:
    """A memory that knows what words mean."""
    return await open_world(model)


@pytest.mark.parametrize("layer", ["episodic", "procedural", "semantic", "user"])
async def test_a_paraphrase_is_found_where_an_answer_says_nothing_else(
    real: World, layer: str
) -> None:
    said = "The release on Tuesday failed because the migration timed out."
    await real.remember(ANA, said, layer=layer)
    answer = await real.ask(ANA, "why did our deployment break", layer={"types": [layer]})
    assert [each.entry.content for each in answer.results] == [said]
    assert answer.metadata.layers_by_words == []


@pytest.mark.parametrize("layer", ["working", "session"])
async def test_where_words_alone_count_the_answer_says_so(real: World, layer: str) -> None:
    await real.remember(ANA, "The release on Tuesday failed.", layer=layer)
    answer = await real.ask(ANA, "why did our deployment break")
    assert answer.results == []
    assert answer.metadata.layers_by_words == ["working", "session"]
    keyword = await real.ask(ANA, "why did our deployment break", mode="keyword")
    assert keyword.metadata.layers_by_words == []


async def test_a_portal_without_a_model_says_that_all_were_asked_by_words(
    open_world: Opener,
) -> None:
    world = await open_world()
    answer = await world.ask(ANA, "anything", layer={"types": ["semantic", "user"]})
    assert answer.metadata.layers_by_words == ["semantic", "user"]


async def test_what_is_below_the_least_score_is_shown_apart_and_not_counted(world: World) -> None:
    near = await world.remember(ANA, "The rain barrel leaks.")
    far = await world.remember(ANA, "The barrel was bought long ago in the old market town.")
    scores = {each.entry.id: each.score for each in (await world.ask(ANA, "rain barrel")).results}
    assert scores[near.id] > scores[far.id] > 0
    least = (scores[near.id] + scores[far.id]) / 2
    await world.memory.usage.flush()
    for _ in range(2):
        answer = await world.ask(ANA, "rain barrel", options={"min_score": least, "nearest": 3})
        assert [each.entry.id for each in answer.results] == [near.id]
        assert [each.entry.id for each in answer.nearest or []] == [far.id]
        assert answer.metadata.total_results == 1
    plain = await world.ask(ANA, "rain barrel", options={"min_score": 1})
    assert (plain.results, plain.nearest) == ([], None)
    await world.memory.usage.flush()
    kept = await world.memory.keep.reading.read([near.id, far.id], keys(ANA))
    assert (kept[near.id].uses, kept[far.id].uses) == (3, 1)
