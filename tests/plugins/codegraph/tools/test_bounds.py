"""How much a tool gives at once, and how far it goes."""

from __future__ import annotations

import pytest

from plugins.codegraph.model import CONFIDENCE, Strategy
from tests.plugins.codegraph.portal import World

FOLLOWING = {"get_callers": {"name": "price"}, "get_callees": {"name": "main"}}
STEPS = {
    **FOLLOWING,
    "get_imports": {"file": "src/app.ts"},
    "analyze_impact": {"name": "price"},
}


async def test_pages_have_as_many_results_as_an_agent_can_use(shop: World) -> None:
    sizes = {name: tool.page.size for name, tool in shop.tools.items() if tool.page}
    assert sizes == {
        "get_callers": 20,
        "get_callees": 20,
        "get_imports": 30,
        "search_code": 50,
        "find_references": 50,
        "get_routes": 50,
        "get_recent_changes": 50,
        "analyze_impact": 50,
        "search_by_purpose": 50,
        "semantic_search": 10,
        "find_similar": 10,
    }


@pytest.mark.parametrize("tool", STEPS)
async def test_one_to_five_steps_are_followed(shop: World, tool: str) -> None:
    for depth in (1, 5):
        assert "data" in await shop.call(tool, depth=depth, **STEPS[tool])
    for depth in (0, 6):
        failed = await shop.refused(tool, depth=depth, **STEPS[tool])
        assert "depth" in failed.message


@pytest.mark.parametrize("tool", STEPS)
async def test_every_edge_says_how_it_was_found_and_how_sure_it_is(shop: World, tool: str) -> None:
    answer = await shop.call(tool, depth=5, **STEPS[tool])
    assert answer["data"]
    for each in answer["data"]:
        for edge in each.get("entities", [each]):
            assert edge["confidence"] == CONFIDENCE[Strategy(edge["strategy"])]


@pytest.mark.parametrize("tool", STEPS)
async def test_less_sure_edges_are_left_out_where_that_is_asked(shop: World, tool: str) -> None:
    answer = await shop.call(tool, depth=5, min_confidence=1.0, **STEPS[tool])
    edges = [edge for each in answer["data"] for edge in each.get("entities", [each])]
    assert {edge["confidence"] for edge in edges} <= {1.0}
