"""Layers are read whole or not at all, and leave nothing behind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from plugins.codegraph.model import EdgeKind, EntityKind
from plugins.codegraph.store.layers import Change, LayerGone, Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import LAYERED, entities, repositories, texts
from tests.plugins.codegraph.store.graphs import (
    SHOP,
    STAMP,
    callers,
    cover,
    files_of,
    graph_of,
    register,
    serve,
    text_of,
)

NOW = timedelta(0)
CALLS = {"a.py:run": ["b.py:add"], "b.py:add": []}


@pytest.fixture
async def shop(store: GraphStore) -> int:
    """The layer of two functions."""
    await register(store.database, SHOP)
    return await serve(store, SHOP, files_of(SHOP, CALLS))


async def rows(store: GraphStore) -> dict[str, int]:
    async with store.database.read() as connection:
        return {
            table.name: int(await connection.scalar(select(func.count()).select_from(table)) or 0)
            for table in (*LAYERED, texts)
        }


async def test_a_layer_that_is_being_built_is_not_seen(store: GraphStore, shop: int) -> None:
    layers = store.layers(SHOP)
    other = await layers.begin(STAMP)
    await layers.write(other, files_of(SHOP, {"c.py:new": []}))
    graph = await graph_of(store, SHOP)
    assert graph.repo.layer == shop
    assert await graph.find("new") == []
    assert await layers.building() == other
    assert await layers.written(other) == {"c.py"}


async def test_a_layer_takes_the_place_of_the_one_before(store: GraphStore, shop: int) -> None:
    before = await graph_of(store, SHOP)
    await serve(store, SHOP, files_of(SHOP, {"c.py:new": []}))
    after = await graph_of(store, SHOP)
    assert [each.name for each in await after.find("new")] == ["new"]
    # Who has begun to read the old one reads on.
    assert await callers(before, SHOP, "b.py:add") == ["a.py:run"]


async def test_a_sweep_deletes_what_was_replaced_and_nothing_else(
    store: GraphStore, shop: int
) -> None:
    first = await rows(store)
    await serve(store, SHOP, files_of(SHOP, CALLS))
    assert await store.sweep() == 0  # it was replaced just now
    assert await store.sweep(NOW) > 0
    assert await rows(store) == first
    assert await callers(await graph_of(store, SHOP), SHOP, "b.py:add") == ["a.py:run"]
    assert len(await (await graph_of(store, SHOP)).words("add", 5)) > 0


async def test_a_change_in_place_leaves_what_a_whole_layer_would(
    store: GraphStore, shop: int
) -> None:
    changed = files_of(SHOP, {"a.py:go": ["b.py:add"], "c.py:new": ["b.py:add"]})
    change = Change(changed, contents=[text_of(each) for each in changed])
    await store.layers(SHOP).rewrite(shop, change, Stamp("beef", "other"))
    graph = await graph_of(store, SHOP)
    assert (graph.repo.generation, graph.repo.commit, graph.repo.branch) == (1, "beef", "other")
    assert await callers(graph, SHOP, "b.py:add") == ["a.py:go", "c.py:new"]
    assert await graph.find("run") == []
    assert [entity.name for entity, _ in await graph.words("run", 5)] == []
    assert [entity.name for entity, _ in await graph.words("new", 1)] == ["new"]
    assert (await graph.stats()).edges[EdgeKind.CALLS] == 2


async def test_a_file_that_is_gone_takes_its_rows_along(store: GraphStore, shop: int) -> None:
    await store.layers(SHOP).rewrite(shop, Change([], gone=["a.py"]), STAMP)
    graph = await graph_of(store, SHOP)
    assert await callers(graph, SHOP, "b.py:add") == []
    assert (await graph.stats()).entities == {EntityKind.FILE: 1, EntityKind.FUNCTION: 1}


async def test_a_change_that_fails_changes_nothing(store: GraphStore, shop: int) -> None:
    before = await rows(store)
    twice = files_of(SHOP, {"b.py:other": []}) * 2
    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.layers(SHOP).rewrite(shop, Change(twice), STAMP)
    assert await rows(store) == before
    assert await callers(await graph_of(store, SHOP), SHOP, "b.py:add") == ["a.py:run"]


async def test_nothing_is_written_for_a_repository_that_was_removed(
    store: GraphStore, shop: int
) -> None:
    layers = store.layers(SHOP)
    other = await layers.begin(STAMP)
    async with store.database.begin() as connection:
        await connection.execute(update(repositories).values(state="removed"))
    with pytest.raises(LayerGone):
        await layers.serve(other, STAMP)
    await store.purge(SHOP.org, SHOP.repo)
    with pytest.raises(LayerGone):
        await layers.write(other, files_of(SHOP, CALLS))


async def test_a_purge_leaves_nothing_and_touches_no_one_else(store: GraphStore, shop: int) -> None:
    other = Owner("portal", "other")
    await register(store.database, other)
    await serve(store, other, files_of(other, CALLS))
    alone = await rows(store)
    await cover(store, SHOP, "alice", files_of(SHOP, {"b.py:two": []}))
    counts = await store.purge(SHOP.org, SHOP.repo)
    assert counts[entities.name] == 6
    assert await store.leftovers(SHOP.org, SHOP.repo) == {}
    assert await rows(store) == {name: count // 2 for name, count in alone.items()}
    assert await callers(await graph_of(store, other), other, "b.py:add") == ["a.py:run"]
    assert sum((await store.purge(SHOP.org, SHOP.repo)).values()) == 0


async def test_what_is_left_of_a_repository_is_told(store: GraphStore, shop: int) -> None:
    left = await store.leftovers(SHOP.org, SHOP.repo)
    assert left["codegraph_entities"] == 4
    assert "codegraph_words" in left
