"""Questions to a graph of 100,000 entities, 500,000 calls and as many references.

What is timed is what a tool asks of the store. Entities are drawn as people ask about them: half of
them at random, half among the 2 % that are called most.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import msgspec

from benchmarks import codegraph_tree as tree
from benchmarks.table import Bar, Row
from benchmarks.workflows import _postgres as empty_postgres
from gateway.services.database.service import open_database
from plugins.codegraph.indexer.edge_buffer import EdgeBuffer
from plugins.codegraph.model import EdgeKind, Entity, Sort
from plugins.codegraph.store.file_rows import MAX_ROWS, batches
from plugins.codegraph.store.layers import Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph, merged_edges
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.store.tables import repositories
from plugins.codegraph.tools.impact import DEPENDS
from plugins.codegraph.tools.uses import USES

SECTION = "codegraph_queries"
MIGRATIONS = Path(__file__).parents[1] / "plugins" / "codegraph" / "migrations"
OWNER = Owner("portal", "bench")
FILES, EACH, EDGES = 2_500, 39, 500_000
ASKED = 200
WORDS = (
    "load the bacoder config",
    "where is the code that checks a hokuner",
    "parse grabata",
    "getTamonpor",
    "add_fillamin",
    "write all kuinho values",
    "find a nerderco by id",
    "remove inbagra",
)
Question = Callable[[Graph, Entity], Awaitable[Any]]


def measure() -> list[Row]:
    """SQLite, and PostgreSQL where a server is named."""
    rows = asyncio.run(_database("SQLite", "sqlite"))
    if server := os.environ.get("PORCH_TEST_POSTGRES"):
        with empty_postgres(server.replace("+asyncpg", "")) as address:
            rows += asyncio.run(_database("PostgreSQL", address))
    return rows


async def _database(name: str, address: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as directory:
        async with _filled(address, Path(directory)) as (graph, asked, seconds):
            what = "writing 100,000 entities, 500,000 calls and as many references"
            rows = [Row(SECTION, f"{name}: {what}", seconds, "s")]
            for what, question, bars in _questions():
                # The databases are measured alike; the bars are those of the embedded default.
                limits = bars if name == "SQLite" else (None, None)
                rows += await _timed(f"{name}: {what}", graph, asked, question, limits)
            return rows


def _questions() -> list[tuple[str, Question, tuple[float | None, float | None]]]:
    return [
        ("find an entity by name", _find, (2, 20)),
        ("callers at depth 1", _walk(EdgeKind.CALLS, True, 1), (2, 20)),
        ("callees at depth 1", _walk(EdgeKind.CALLS, False, 1), (2, 20)),
        ("imports at depth 1", _imports, (2, 20)),
        ("uses of every kind", _uses, (2, 20)),
        ("impact through references at depth 3", _impact, (20, 100)),
        ("impact at depth 3", _walk(EdgeKind.CALLS, True, 3), (20, 100)),
        ("impact at depth 5, capped", _walk(EdgeKind.CALLS, True, 5), (100, 300)),
        ("words", _words, (10, 50)),
        ("nearest names of an unknown one", _nearest, (None, None)),
    ]


async def _find(graph: Graph, entity: Entity) -> Any:
    return await graph.find(entity.name)


def _walk(kind: EdgeKind, incoming: bool, depth: int) -> Question:
    async def question(graph: Graph, entity: Entity) -> Any:
        return await graph.walk([entity.key], kind, incoming, depth)

    return question


async def _uses(graph: Graph, entity: Entity) -> Any:
    return await graph.uses([entity.key], USES)


async def _impact(graph: Graph, entity: Entity) -> Any:
    return await graph.walk([entity.key], DEPENDS, True, 3)


async def _imports(graph: Graph, entity: Entity) -> Any:
    return await graph.walk([entity.parent or 0], EdgeKind.IMPORTS, incoming=False)


async def _words(graph: Graph, entity: Entity) -> Any:
    return await graph.words(WORDS[entity.line // 10 % len(WORDS)], 50)


async def _nearest(graph: Graph, entity: Entity) -> Any:
    return await graph.nearest(entity.name[:-2] + "x")


async def _timed(
    what: str,
    graph: Graph,
    asked: Sequence[Entity],
    question: Question,
    limits: tuple[float | None, float | None],
) -> list[Row]:
    for entity in asked[:10]:
        await question(graph, entity)
    times = []
    for entity in asked:
        start = time.perf_counter()
        await question(graph, entity)
        times.append(1000 * (time.perf_counter() - start))
    last = quantiles(times, n=20)[-1]
    middle_bar, last_bar = (None if limit is None else Bar("at most", limit) for limit in limits)
    return [
        Row(SECTION, f"{what}, p50", median(times), "ms", middle_bar),
        Row(SECTION, f"{what}, p95", last, "ms", last_bar),
    ]


@asynccontextmanager
async def _filled(
    address: str, directory: Path
) -> AsyncGenerator[tuple[Graph, list[Entity], float]]:
    service = open_database(address, directory)
    database = service.for_owner("codegraph")
    await database.migrate(MIGRATIONS)
    async with database.begin() as connection:
        await connection.execute(repositories.insert().values(row_of()))
    store = GraphStore(database)
    layers = store.layers(OWNER)
    layer = await layers.begin(Stamp())
    made = [_with_references(each) for each in tree.made(OWNER.repo, FILES, EACH, EDGES)]
    start = time.perf_counter()
    staging = EdgeBuffer(directory / "edges.db")
    for batch in batches(made):
        staging.put([(each.report.path, merged_edges(each.edges)) for each in batch])
        await layers.write(layer, batch, with_edges=False)
    for backward in (False, True):
        for rows in staging.ordered(backward=backward, most=MAX_ROWS):
            await layers.write_edges(layer, rows, backward=backward)
    staging.close()
    await layers.serve(layer, Stamp())
    seconds = time.perf_counter() - start
    view = await store.view(OWNER.org, OWNER.repo)
    if view is None:
        raise RuntimeError("the layer is not served")
    try:
        yield store.open(view), _asked(made), seconds
    finally:
        await service.close()


def _with_references(file: FileGraph) -> FileGraph:
    """A file with a reference beside each of its calls, of one sort after the other."""
    calls = (each for each in file.edges if each.kind is EdgeKind.CALLS)
    sorts = list(Sort)
    references = [
        msgspec.structs.replace(each, kind=EdgeKind.REFERENCES, sort=sorts[place % len(sorts)])
        for place, each in enumerate(calls)
    ]
    return msgspec.structs.replace(file, edges=[*file.edges, *references])


def _asked(made: Sequence[Any]) -> list[Entity]:
    chance = random.Random(3)
    entities = {each.key: each for file in made for each in file.entities[1:]}
    called: dict[int, int] = {}
    for file in made:
        for edge in file.edges:
            if edge.kind is EdgeKind.CALLS:
                called[edge.target] = called.get(edge.target, 0) + 1
    most = sorted(called, key=lambda key: (-called[key], key))[: len(entities) // 50]
    popular = chance.sample(most, ASKED // 2)
    others = chance.sample(sorted(entities), ASKED // 2)
    chosen = [entities[key] for key in (*popular, *others)]
    chance.shuffle(chosen)
    return chosen


def row_of() -> dict[str, Any]:
    """The row of the repository that is measured."""
    return {
        "id": OWNER.repo,
        "org": OWNER.org,
        "name": "bench",
        "kind": "path",
        "location": "/srv/bench",
        "tier": "public",
        "groups": [],
        "state": "active",
        "declared": False,
        "created": datetime.now(UTC),
    }
