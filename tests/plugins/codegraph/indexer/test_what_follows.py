"""What follows an index sees it served, and does not wait until it is summarised."""

from __future__ import annotations

import os

import pytest

from gateway.contract import Tier
from plugins.codegraph.indexer.progress import silent
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.store.stored_graph import Graph
from tests.plugins.codegraph.indexer.bench import OWNER, Bench, write


async def test_what_follows_comes_between_the_index_and_its_summary(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    sizes = Graph.sizes

    async def noted(graph: Graph) -> object:
        heard.append("summary")
        return await sizes(graph)

    async def then(repository: Repository) -> None:
        found = await (await indexed.graph()).find("dig")
        heard.append(f"{repository.name} has {len(found)}")

    monkeypatch.setattr(Graph, "sizes", noted)
    garden = Repository(
        OWNER.repo, OWNER.org, "garden", "path", str(indexed.root), None, Tier.OPEN, (), False
    )
    indexes = Indexes(indexed.indexer, indexed.store)
    write(indexed.root, "beds.py", "def dig():\n    pass\n")
    await indexes.index(garden, indexed.root, silent, then)
    assert heard == ["garden has 1", "summary"]
    write(indexed.root, "more.py", "def dig():\n    return 1\n")
    assert await indexes.changed(garden, indexed.root, silent, then) is not None
    assert heard[2:] == ["garden has 2", "summary"]


async def test_nothing_follows_where_nothing_has_changed(indexed: Bench) -> None:
    async def then(repository: Repository) -> None:
        raise AssertionError("there is nothing to follow")

    write(indexed.root, "beds.py", "def dig():\n    pass\n")
    os.utime(indexed.root / "beds.py", (1_000_000, 1_000_000))
    indexes = Indexes(indexed.indexer, indexed.store)
    layer = (await indexed.index()).layer
    garden = Repository(
        *(OWNER.repo, OWNER.org, "garden", "path", str(indexed.root), None, Tier.OPEN, (), False),
        layer=layer,
    )
    assert await indexes.changed(garden, indexed.root, silent, then) is None


async def test_what_a_change_is_for_is_said_at_once(indexed: Bench) -> None:
    justifier = Justifier(indexed.store.database, indexed.store)
    at = OWNER.org, OWNER.repo
    write(indexed.root, "beds.py", 'def dig():\n    """Dig a bed."""\n')
    write(indexed.root, "garden.py", "from beds import dig\n\n\ndef plant():\n    dig()\n")
    await indexed.index()
    await justifier.run(*at, silent)
    for purpose in ("Turn the soil.", "Loosen the soil."):
        write(indexed.root, "beds.py", f'def dig():\n    """{purpose}"""\n')
        await indexed.index()
        assert await justifier.follow_up(*at)
        graph = await indexed.graph()
        (dig,) = await graph.find("dig")
        said = await StatementStore(indexed.store.database).of(graph.repo, [dig.key])
        assert said[dig.key].purpose == purpose
