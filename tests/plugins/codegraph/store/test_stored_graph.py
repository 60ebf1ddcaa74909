"""A graph answers from the layer that is served, and from nothing else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from plugins.codegraph.model import EdgeKind, EntityKind, Strategy, Unresolved, shown_key
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from tests.plugins.codegraph.store.graphs import (
    SHOP,
    callers,
    cover,
    files_of,
    graph_of,
    key_of,
    register,
    serve,
)

CALLS = {
    "app/main.py:run": ["app/cart.py:add_item", "app/pay.py:pay"],
    "app/cart.py:add_item": ["app/cart.py:checkStock"],
    "app/cart.py:checkStock": [],
    "app/pay.py:pay": ["app/cart.py:checkStock"],
    "tests/test_cart.py:test_add": ["app/cart.py:add_item"],
}


@pytest.fixture
async def shop(store: GraphStore) -> Graph:
    """A graph of five functions."""
    await register(store.database, SHOP)
    unresolved = [Unresolved("app/pay.py", "take", 7, 2), Unresolved("app/main.py", "take", 3)]
    await serve(store, SHOP, files_of(SHOP, CALLS, unresolved=unresolved))
    return await graph_of(store, SHOP)


async def test_nothing_is_seen_before_the_first_layer_is_served(store: GraphStore) -> None:
    await register(store.database, SHOP)
    assert await store.view(SHOP.org, SHOP.repo) is None


@pytest.mark.parametrize(
    "name",
    [
        *("add_item", "cart.add_item", "app.cart.add_item", "app/cart.add_item"),
        shown_key(key_of(SHOP, "app/cart.py:add_item")),
    ],
)
async def test_an_entity_is_found_by_its_name_and_what_is_around_it(shop: Graph, name: str) -> None:
    assert [each.name for each in await shop.find(name)] == ["add_item"]


async def test_a_file_is_found_by_the_end_of_its_path(shop: Graph) -> None:
    for name in ("cart.py", "app/cart.py"):
        assert [each.path for each in await shop.find(name)] == ["app/cart.py"]
    assert await shop.find("art.py") == []


async def test_a_name_is_looked_for_in_one_file_and_among_some_kinds(shop: Graph) -> None:
    assert await shop.find("pay", file="cart.py") == []
    assert len(await shop.find("pay", file="pay.py")) == 1
    assert await shop.find("pay", kinds=[EntityKind.CLASS]) == []


async def test_an_unknown_name_leads_to_those_like_it(shop: Graph) -> None:
    assert [each.name for each in await shop.nearest("addItem")][:1] == ["add_item"]
    assert [each.name for each in await shop.nearest("check_stock")][:1] == ["checkStock"]
    assert await shop.nearest("zzzzzz") == []


async def test_callers_are_reached_nearest_first_and_once(shop: Graph) -> None:
    assert await callers(shop, SHOP, "app/cart.py:checkStock") == [
        *("app/cart.py:add_item", "app/pay.py:pay"),
    ]
    assert await callers(shop, SHOP, "app/cart.py:checkStock", depth=3) == [
        *("app/cart.py:add_item", "app/pay.py:pay", "app/main.py:run"),
        "tests/test_cart.py:test_add",
    ]


async def test_a_walk_ends_in_a_circle(store: GraphStore) -> None:
    await register(store.database, SHOP)
    circle = {"a.py:f": ["a.py:g"], "a.py:g": ["a.py:h"], "a.py:h": ["a.py:f"]}
    await serve(store, SHOP, files_of(SHOP, circle))
    graph = await graph_of(store, SHOP)
    assert await callers(graph, SHOP, "a.py:f", depth=5) == ["a.py:h", "a.py:g"]


async def test_a_walk_gives_so_many_and_counts_all(shop: Graph) -> None:
    key = key_of(SHOP, "app/cart.py:checkStock")
    walk = await shop.walk([key], EdgeKind.CALLS, True, depth=3, limit=2)
    assert (len(walk.reached), walk.total, walk.capped) == (2, 4, False)


async def test_a_walk_follows_only_edges_that_are_sure_enough(store: GraphStore) -> None:
    await register(store.database, SHOP)
    await serve(store, SHOP, files_of(SHOP, CALLS, Strategy.INFERRED))
    graph = await graph_of(store, SHOP)
    key = key_of(SHOP, "app/pay.py:pay")
    assert (await graph.walk([key], EdgeKind.CALLS, True, min_confidence=0.95)).total == 0
    assert (await graph.walk([key], EdgeKind.CALLS, True, min_confidence=0.9)).total == 1


async def test_a_walk_says_where_the_code_says_so(shop: Graph) -> None:
    key = key_of(SHOP, "app/main.py:run")
    walk = await shop.walk([key], EdgeKind.CALLS, incoming=False)
    assert {(each.path, each.line, each.via) for each in walk.reached} == {("app/main.py", 1, key)}


async def test_what_a_file_holds_is_listed_by_line(shop: Graph) -> None:
    found = await shop.in_file("app/cart.py")
    assert [each.name for each in found] == ["cart.py", "add_item", "checkStock"]
    assert await shop.contained(found[0].key) == found[1:]


@pytest.mark.parametrize("repo", ["a", "b", "c", "d"])
async def test_what_shares_a_line_is_listed_alike_in_every_portal(
    store: GraphStore, repo: str
) -> None:
    owner = Owner("portal", repo)
    await register(store.database, owner)
    (file,) = files_of(owner, {f"plan.ts:{name}": [] for name in ("width", "build", "angle")})
    beside = [replace(each, line=1) for each in file.entities]
    await serve(store, owner, [replace(file, entities=beside)])
    found = await (await graph_of(store, owner)).in_file("plan.ts")
    assert [each.name for each in found] == ["plan.ts", "angle", "build", "width"]


async def test_a_text_is_that_of_the_index(shop: Graph) -> None:
    assert await shop.source("app/cart.py") == b"app/cart.py"
    assert await shop.source("nowhere.py") is None


@pytest.mark.parametrize(
    ("query", "name"),
    [("stock", "checkStock"), ("add an item", "add_item"), ("checkstock", "checkStock")],
)
async def test_words_find_parts_of_names(shop: Graph, query: str, name: str) -> None:
    found = await shop.words(query, limit=5, kinds=[EntityKind.FUNCTION])
    assert found[0][0].name == name
    assert all(score > 0 for _, score in found)


@pytest.mark.parametrize("query", ["", "!!!", "'", '"', "a AND", "NEAR(", "*", "x'y\"z", "-"])
async def test_words_take_any_text(shop: Graph, query: str) -> None:
    assert isinstance(await shop.words(query, limit=5), list)


async def test_where_many_have_the_common_words_those_with_a_rare_one_are_found(
    shop: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.codegraph.store.fulltext.ENOUGH", 1)
    few = await shop.words("pay add", limit=1, kinds=[EntityKind.FUNCTION])
    assert [entity.name for entity, _ in few] == ["pay"]
    # Those with common words alone fill what room is left.
    more = await shop.words("pay add", limit=5, kinds=[EntityKind.FUNCTION])
    assert {entity.name for entity, _ in more} == {"pay", "add_item", "test_add"}


async def test_calls_to_anyone_of_a_name_are_counted_with_their_places(shop: Graph) -> None:
    sites = await shop.unresolved("take")
    assert (sites.total, sites.places) == (3, ["app/main.py:3", "app/pay.py:7"])


async def test_pages_hold_every_entity_once(shop: Graph) -> None:
    seen, after = [], 0
    while page := await shop.page(after, limit=2):
        seen += [entity.key for _, entity in page]
        after = page[-1][0]
    assert len(seen) == len(set(seen)) == 9


async def test_the_store_counts_what_there_is(shop: Graph) -> None:
    stats = await shop.stats()
    assert stats.languages["python"].files == 4
    assert stats.entities == {EntityKind.FILE: 4, EntityKind.FUNCTION: 5}
    assert stats.edges == {EdgeKind.CONTAINS: 5, EdgeKind.CALLS: 5}
    assert stats.unresolved == 3


async def test_an_overlay_is_seen_by_its_person_alone(store: GraphStore, shop: Graph) -> None:
    mine = {"app/pay.py:pay": [], "app/pay.py:refund": ["app/cart.py:checkStock"]}
    await cover(store, SHOP, "alice", files_of(SHOP, mine), "tests/test_cart.py")
    alice, bob = await graph_of(store, SHOP, "alice"), await graph_of(store, SHOP, "bob")
    stock = "app/cart.py:checkStock"
    assert await callers(alice, SHOP, stock) == ["app/cart.py:add_item", "app/pay.py:refund"]
    assert await callers(bob, SHOP, stock) == ["app/cart.py:add_item", "app/pay.py:pay"]
    assert await callers(alice, SHOP, "app/cart.py:add_item") == ["app/main.py:run"]
    assert [each.name for each, _ in await alice.words("refund", 5)] == ["refund", "pay.py"][:1]
    assert await bob.words("refund", 5) == []
    assert await alice.file("tests/test_cart.py") is None
    assert await alice.find("test_add") == []
    assert (await alice.stats()).entities[EntityKind.FUNCTION] == 5
    assert (await alice.stats()).edges[EdgeKind.CALLS] == 4


async def test_a_second_overlay_takes_the_place_of_the_first(
    store: GraphStore, shop: Graph
) -> None:
    await cover(store, SHOP, "alice", files_of(SHOP, {"app/pay.py:one": []}))
    await cover(store, SHOP, "alice", files_of(SHOP, {"app/pay.py:two": []}))
    alice = await graph_of(store, SHOP, "alice")
    assert await alice.find("one") == []
    assert len(await alice.find("two")) == 1
