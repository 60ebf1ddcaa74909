"""A code graph in this process, over the embedded services, for measuring it from inside."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from gateway.catalog.items import Item, tool_item
from gateway.config.portal_keys import Services
from gateway.contract import Caller, Host, Listing, Tier, Tool
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.json_budget import size
from gateway.pipeline.pager import Pager
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.codegraph import offer
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.repository import State
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.parts import ToolParts

ORG = "portal"
ANYONE = Caller(person=None, tier=Tier.OPEN)
_PLUGIN = Path(__file__).parents[1] / "plugins" / "codegraph"


@dataclass(frozen=True, slots=True)
class Known:
    """A repository that everybody may see."""

    id: str
    org: str
    name: str


class Everything:
    """A registry of repositories that everybody may see, called by their ids."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}

    def add(self, repo: str) -> None:
        """Have one more."""
        self._known[repo] = Known(repo, ORG, repo)

    async def visible(self, caller: Caller) -> list[Known]:
        return list(self._known.values())

    async def named(self, caller: Caller, name: str | None) -> Known:
        assert name is not None
        return Known(name, ORG, name)

    async def state(self, repo: str) -> State:
        return State()


class NoCursors(Cursors):
    """Cursors that nobody gives back."""

    def __init__(self) -> None:
        pass

    def seal(self, place: Any, purpose: str) -> str:
        return "c" * 120


@dataclass(frozen=True, slots=True)
class CodeLibrary:
    """A code graph with its tools.

    Attributes:
        host: the services.
        store: the graphs.
        registry: the repositories.
        parts: what the tools stand on.
        indexer: makes the graphs.
        items: the tools, as a portal has them, by name.
    """

    host: Host
    store: GraphStore
    registry: Everything
    parts: ToolParts
    indexer: Indexer
    items: dict[str, Item]

    async def register(self, repo: str) -> None:
        """Write a repository into the registry's table."""
        from sqlalchemy import insert

        from plugins.codegraph.store.tables import repositories

        row: dict[str, Any] = {
            "id": repo,
            "org": ORG,
            "name": repo,
            "kind": "path",
            "location": repo,
        }
        row |= {"tier": "open", "groups": [], "state": "active", "declared": False}
        async with self.host.database.begin() as connection:
            await connection.execute(insert(repositories).values(created=datetime.now(UTC), **row))
        self.registry.add(repo)

    async def index(self, repo: str, root: Path) -> None:
        """Index a directory, and embed it."""
        await self.register(repo)
        await self.indexer.index(Source(ORG, repo, root))
        await self.parts.embedder.embed(ORG, repo)

    async def graph(self, repo: str) -> Graph:
        """A repository's graph."""
        return (await self.parts.access(ANYONE, repo)).graph

    async def answer(self, tool: str, repo: str, args: dict[str, Any]) -> tuple[Any, int]:
        """What a tool answers, and its bytes as JSON."""
        item = self.items[tool]
        declared = item.declared
        assert isinstance(declared, Tool)
        result = await declared.run(item.parse({**args, "repo": repo}), ANYONE)
        if isinstance(result, Listing):
            assert declared.page is not None
            pager = Pager(declared.page, NoCursors(), "")
            result = pager.show(result, None, await pager.ready(result, None))
        return result, size(result)


@asynccontextmanager
async def code_library(data: Path, embedding: str = "embedded") -> AsyncGenerator[CodeLibrary]:
    """Open an empty code graph.

    Args:
        data: where its data is kept.
        embedding: the ``services.embedding`` setting.
    """
    async with open_services(Services(embedding=embedding), data) as services:
        host = make_host(services.for_plugin("codegraph"), "codegraph", "Benchmark")
        await host.database.migrate(_PLUGIN / "migrations")
        store = GraphStore(host.database)
        indexer = Indexer(store, data / "indexing")
        registry = Everything()
        indexes = Indexes(indexer, store)
        parts = ToolParts.of(host, cast(Any, registry), store, indexes, 12, offer.now)
        try:
            items = {each.name: tool_item("codegraph", each, each.name) for each in parts.tools()}
            yield CodeLibrary(host, store, registry, parts, indexer, items)
        finally:
            await indexer.close()


def copied(package: str, to: Path) -> Path:
    """An installed package's directory, as a tree of its own."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    root = to / package
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(spec.submodule_search_locations[0], root, ignore=ignored)
    return root
