"""An indexer over a database, the directory that it indexes, and what it made of it."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import astuple
from sqlalchemy import select

from gateway.contract import Database
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.source import Source, Summary
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.store.tables import (
    REPORTED,
    SELECTED,
    edges,
    entities,
    files,
    unresolved,
)
from tests.plugins.codegraph.store.graphs import graph_of, register

OWNER = Owner("portal", "tree")
UNRESOLVED = ("path", "name", "line", "sites")
Dump = dict[str, list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Bench:
    """One indexer, and one repository.

    Attributes:
        store: where the graph is.
        indexer: what makes it.
        root: the repository's directory.
    """

    store: GraphStore
    indexer: Indexer
    root: Path

    @property
    def source(self) -> Source:
        """What is indexed."""
        return Source(OWNER.org, OWNER.repo, self.root)

    async def index(self) -> Summary:
        """Bring the graph to what the files say."""
        return await self.indexer.index(self.source)

    async def graph(self, person: str | None = None) -> Graph:
        """The graph that is served."""
        return await graph_of(self.store, OWNER, person)

    async def seen(self, person: str | None = None) -> Dump:
        """All that a person can be told of entities, calls and files."""
        graph = await self.graph(person)
        things = [entity for _, entity in await graph.page()]
        told: Dump = {"entities": sorted(tuple(map(str, each)) for each in map(astuple, things))}
        walks = [
            (entity, kind, await graph.walk([entity.key], kind, incoming))
            for entity in things
            for kind in EdgeKind
            for incoming in (True, False)
        ]
        told["edges"] = sorted(
            (str(entity.key), kind.value, str(each.entity.key), each.path, str(each.line))
            for entity, kind, walk in walks
            for each in walk.reached
        )
        reports = await graph.reports(problems_only=False)
        told["files"] = sorted((each.path, each.digest, each.problem) for each in reports)
        names = {each[1] for each in await self._open_names()}
        told["open"] = [
            (name, str(sites.total), *sites.places)
            for name in sorted(names)
            if (sites := await graph.unresolved(name)).total
        ]
        return told

    async def _open_names(self) -> list[tuple[str, str]]:
        async with self.store.database.read() as connection:
            rows = await connection.execute(select(unresolved.c.path, unresolved.c.name))
            return [(row[0], row[1]) for row in rows]

    async def dump(self) -> Dump:
        """All that is served, in one order, without what differs by chance."""
        view = await self.store.view(OWNER.org, OWNER.repo)
        assert view is not None
        arrows = (*(edges.c[name] for name in ("source", "kind", "target")), edges.c.line)
        chosen = {
            "entities": (entities, (*SELECTED, entities.c.words)),
            "edges": (edges, (*arrows, edges.c.strategy, edges.c.sites)),
            "unresolved": (
                unresolved,
                [unresolved.c[n] for n in ("path", "name", "line", "sites")],
            ),
            "files": (files, (*REPORTED, files.c.gone)),
        }
        found: Dump = {}
        async with self.store.database.read() as connection:
            for name, (table, columns) in chosen.items():
                rows = await connection.execute(select(*columns).where(table.c.layer == view.layer))
                found[name] = sorted(tuple(map(str, row)) for row in rows)
        return found


@asynccontextmanager
async def bench(
    database: Database, directory: Path, root: Path, workers: WorkerPool
) -> AsyncGenerator[Bench]:
    """A bench over a database.

    Args:
        database: migrated and empty.
        directory: where the indexer keeps what it can make again.
        root: what is indexed.
        workers: who parses and links.
    """
    await register(database, OWNER)
    store = GraphStore(database)
    yield Bench(store, Indexer(store, directory, workers=workers), root)


def git(root: Path, *arguments: str) -> None:
    """Run Git in a checkout."""
    settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, path: str, text: str | bytes) -> None:
    """Write a file of a repository."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
