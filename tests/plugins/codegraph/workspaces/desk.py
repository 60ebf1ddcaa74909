"""A checkout on a person's disk, the index of another one, and what they send of their work."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.stored_graph import Graph
from tests.plugins.codegraph.portal import Known, WordsModel, World, world
from tests.plugins.codegraph.store.graphs import register
from tests.plugins.codegraph.workspaces.worktree import Worktree

SHOP = Owner("portal", "shop")


@dataclass
class Desk:
    """A person's checkout beside the portal.

    Attributes:
        world: the portal.
        worktree: the checkout, of which the portal has indexed another one at ``head``.
        head: the commit that is checked out.
    """

    world: World
    worktree: Worktree
    indexer: Indexer
    indexed: Path
    head: str = ""

    async def commit(self, files: Mapping[str, bytes]) -> None:
        """Commit a tree, and index it."""
        self.head = self.worktree.commit(files)
        await self.index(files)

    async def index(self, files: Mapping[str, bytes]) -> None:
        """Index a tree that may be another one than the checkout."""
        Worktree(self.indexed).put(files)
        await self.indexer.index(Source(SHOP.org, SHOP.repo, self.indexed))

    async def sync(
        self, files: Mapping[str, bytes], person: str = "ada", branch: str = "main"
    ) -> dict[str, Any]:
        """Edit the checkout, and send what differs."""
        self.worktree.put(files)
        return await self.send(self.worktree.diff(), person, branch)

    async def send(self, diff: str, person: str = "ada", branch: str = "main") -> dict[str, Any]:
        """Send a diff."""
        return await self.world.call(
            "sync_local_diff", person, diff=diff, branch=branch, baseSha=self.head
        )

    async def graph(self, person: str | None) -> Graph:
        """What a person sees."""
        opened = await self.world.parts.access(_caller(person), "shop")
        return opened.graph


def _caller(person: str | None) -> Any:
    from tests.plugins.codegraph.portal import caller_of

    return caller_of(person)


@asynccontextmanager
async def desk(
    home: Path, migrated: Path, workers: WorkerPool | None = None
) -> AsyncGenerator[Desk]:
    """A desk with an empty checkout; ``workers`` saves starting some."""
    data = home / "data"
    data.mkdir()
    async with world(data, WordsModel(), migrated) as portal:
        workers = workers or WorkerPool(most=1)
        indexer = Indexer(portal.store, home / "indexing", workers=workers)
        # It is indexed as a running portal does it, and not as the other tests do.
        portal.overlay = Indexes(indexer, portal.store).overlay  # type: ignore[assignment, method-assign]
        await register(portal.host.database, SHOP)
        portal.registry.all.append(Known(SHOP.repo, SHOP.org, "shop"))
        try:
            yield Desk(portal, Worktree(home / "checkout"), indexer, home / "indexed")
        finally:
            await indexer.close()


async def dump(graph: Graph) -> dict[str, Any]:
    """All that a graph says, in one order."""
    entities = [each for _, each in await graph.page(0, 10_000)]
    edges = set()
    for each in entities:
        for kind in EdgeKind:
            walk = await graph.walk([each.key], kind, incoming=False)
            edges |= {
                (each.key, kind, one.entity.key, one.path, one.line, one.strategy, one.sites)
                for one in walk.reached
            }
            back = await graph.walk([each.key], kind, incoming=True)
            assert all(one.entity.key in {e.key for e in entities} for one in back.reached)
    paths = sorted({each.path for each in entities})
    names = sorted({each.name for each in entities} | {"take", "run", "missing"})
    return {
        "entities": sorted(entities, key=lambda each: each.key),
        "edges": sorted(edges),
        "texts": {path: await graph.source(path) for path in paths},
        "unresolved": {name: await graph.unresolved(name) for name in names},
        "words": sorted(each.key for each, _ in await graph.words("run take helper", 100)),
        "degrees": await graph.degrees([each.key for each in entities]),
    }
