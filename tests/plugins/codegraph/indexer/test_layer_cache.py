"""A layer that was looked at is remembered, for as long as it is what is served."""

from __future__ import annotations

from typing import Any

from plugins.codegraph.indexer import layer_cache as module
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.layer_cache import LayerCache
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner
from tests.plugins.codegraph.indexer.bench import Bench, write


def view(repo: str = "a", layer: int = 1, generation: int = 0) -> RepositoryView:
    return RepositoryView(repo, "portal", repo, layer, generation)


def basis(repo: str = "a", layer: int = 1) -> BaseLayer:
    database: Any = None  # nothing is read
    return BaseLayer(database, Owner("portal", repo), layer, {})


def test_what_is_served_is_remembered_once() -> None:
    memory, kept = LayerCache(), basis()
    memory.keep("portal", "a", kept, 3)
    assert memory.take(view(generation=3)) is kept
    assert memory.take(view(generation=3)) is None


def test_another_generation_or_layer_is_not_what_was_remembered() -> None:
    for other in (view(generation=4), view(layer=2, generation=3), view("b", generation=3)):
        memory = LayerCache()
        memory.keep("portal", "a", basis(), 3)
        assert memory.take(other) is None


def test_what_is_old_or_too_much_is_forgotten() -> None:
    now = [0.0]
    memory = LayerCache(lambda: now[0])
    memory.keep("portal", "a", basis(), 0)
    now[0] = module.TTL_S
    assert memory.take(view()) is None
    for number in range(module.MAX_LAYERS + 1):
        memory.keep("portal", str(number), basis(str(number)), 0)
    assert memory.take(view("0")) is None
    assert memory.take(view("1")) is not None


async def test_what_is_remembered_is_what_the_database_says(indexed: Bench) -> None:
    write(indexed.root, "shop.py", "def pay(): pass\n")
    write(indexed.root, "main.py", "from shop import pay\n\ndef run():\n    pay()\n")
    write(indexed.root, "notes.md", "# Notes\n")
    await indexed.index()
    for text in ("def pay(): return 1\n", "def pay(more): return 1\n", "x = 1\n"):
        write(indexed.root, "shop.py", text)
        await indexed.index()
        served = await indexed.store.view("portal", "tree")
        assert served is not None
        kept = indexed.indexer._memory.take(served)
        assert kept is not None
        read = await BaseLayer.of(indexed.store.database, Owner("portal", "tree"), served.layer)
        await kept.load_links()
        await read.load_links()
        assert (kept.files, kept.links, kept.known) == (read.files, read.links, read.known)
        assert kept.dependents._paths == read.dependents._paths
        indexed.indexer._memory.keep("portal", "tree", kept, served.generation)


async def test_what_a_change_will_need_is_read_before_there_is_one(indexed: Bench) -> None:
    write(indexed.root, "shop.py", "def pay(): pass\n")
    await indexed.index()
    await indexed.index()
    assert indexed.indexer._preparing is not None
    await indexed.indexer._preparing
    served = await indexed.store.view("portal", "tree")
    assert served is not None
    kept = indexed.indexer._memory.take(served)
    assert kept is not None
    assert kept.known.keys() == {"shop.py"}
