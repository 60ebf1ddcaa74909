"""What stands around an entity, as a graph."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.codegraph.portal import World


def edges(answer: dict[str, Any]) -> set[tuple[str, str, str]]:
    names = {each["key"]: each["name"] for each in answer["nodes"]}
    return {(names[each["source"]], names[each["target"]], each["by"]) for each in answer["edges"]}


async def test_callers_within_some_steps_are_nodes_with_all_calls_between_them(
    shop: World,
) -> None:
    answer = await shop.call("get_call_graph", name="Cart.total")
    depths = {each["name"]: each["depth"] for each in answer["nodes"]}
    assert depths == {"Cart.total": 0, "checkout": 1, "main": 2, "testCheckout": 2}
    assert edges(answer) == {
        ("checkout", "Cart.total", "called"),
        ("main", "checkout", "called"),
        ("testCheckout", "checkout", "called"),
    }
    assert [each["name"] for each in answer["nodes"] if each.get("test")] == ["testCheckout"]
    assert answer["leftOut"] == 0


async def test_callees_are_there_too_where_both_are_asked_for(shop: World) -> None:
    answer = await shop.call("get_call_graph", name="Cart.total", direction="both", depth=1)
    depths = {each["name"]: each["depth"] for each in answer["nodes"]}
    assert depths["checkout"] == 1
    assert depths["price"] == -1
    assert ("Cart.total", "price", "called") in edges(answer)
    assert "main" not in depths


async def test_with_references_whatever_depends_on_it_counts(shop: World) -> None:
    calls = await shop.call("get_call_graph", name="Discount")
    every = await shop.call("get_call_graph", name="Discount", references=True)
    assert [each["name"] for each in calls["nodes"]] == ["Discount"]
    assert ("Half", "Discount", "implemented") in edges(every)


async def test_what_a_limit_leaves_out_is_counted(shop: World) -> None:
    whole = await shop.call("get_call_graph", name="price", limit=1000)
    few = await shop.call("get_call_graph", name="price", limit=3)
    around = [each for each in whole["nodes"] if each["depth"]]
    assert whole["leftOut"] == 0
    assert few["leftOut"] == len(around) - 3
    assert few["nodes"] == whole["nodes"][:4]
    assert edges(few) == {each for each in edges(whole) if _within(each, few)}


def _within(edge: tuple[str, str, str], answer: dict[str, Any]) -> bool:
    return {edge[0], edge[1]} <= {each["name"] for each in answer["nodes"]}


@pytest.mark.parametrize("name", ["price", "Cart", "Half", "Half.apply"])
async def test_an_edge_is_what_the_lists_of_callers_say(shop: World, name: str) -> None:
    graph = await shop.call("get_call_graph", name=name, depth=1, limit=1000)
    listed, more = set[str](), dict[str, str]()
    while True:
        page = await shop.call("get_callers", name=name, **more)
        listed |= {each["key"] for each in page["data"] if not each.get("through")}
        cursor = page.get("pagination", {}).get("cursor")
        if cursor is None:
            break
        more = {"cursor": cursor}
    assert {each["key"] for each in graph["nodes"] if each["depth"] == 1} == listed
