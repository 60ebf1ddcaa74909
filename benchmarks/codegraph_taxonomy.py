"""How right the code graph is about what code is for, against judgements that were made by hand.

``data/codegraph_taxonomy.json`` holds them, with the commit of each repository. Rules may be tuned
on all repositories but the one that is held out; its figures are shown apart. The last rows measure
a million lines (``PORCH_BENCH_LINES``), without the index itself.
"""

from __future__ import annotations

import asyncio
import json
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.codegraph_queries import MIGRATIONS, OWNER, row_of
from benchmarks.codegraph_speed import copy
from benchmarks.table import Bar, Row
from benchmarks.trees import git_tree
from gateway.services.database.service import OwnedDatabase, open_database
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.scan import Limits
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.justification.words import singular
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import repositories

SECTION = "codegraph_taxonomy"
JUDGED = Path(__file__).parent / "data" / "codegraph_taxonomy.json"
LINES = 1_000_000
_SURE = 0.8

Said = Mapping[tuple[str, str], Statement]
"""What is said, by path and qualified name."""


def measure() -> list[Row]:
    """Each judged repository, all of them, and a million lines."""
    data = json.loads(JUDGED.read_text("utf-8"))
    seen, held = Counter[str](), Counter[str]()
    rows: list[Row] = []
    for source in data["sources"]:
        tree = git_tree(source["name"], source["address"], source["commit"])
        said = asyncio.run(_said(tree))
        counts = _counted(source["entities"], said)
        (held if source["held_out"] else seen).update(counts)
        what = f"{source['name']} ({source['kind']})"
        rows.append(_row(f"{what}: class right", counts, "right", "entities"))
    rows += _totals("judged repositories", seen, bars=True)
    rows += _totals("held-out repository", held, bars=False)
    return rows + asyncio.run(_large())


def _totals(of: str, counts: Counter[str], *, bars: bool) -> Iterator[Row]:
    def bar(least: float) -> Bar | None:
        return Bar("at least", least) if bars else None

    yield _row(f"{of}: class right", counts, "right", "entities", bar(0.75), headline=bars)
    what = f"{of}: class right, confidence 0.8 and more"
    yield _row(what, counts, "sure_right", "sure", bar(0.90), headline=bars)
    what = f"{of}: technology right, where the class is"
    yield _row(what, counts, "technology_right", "technology", bar(0.85), headline=bars)
    yield _row(f"{of}: feature right, where the class is", counts, "feature_right", "feature")
    if counts["entry"]:
        what = f"{of}: entry points found"
        yield _row(what, counts, "entry_right", "entry", bar(1.0), headline=bars)


def _row(
    what: str,
    counts: Counter[str],
    right: str,
    of: str,
    bar: Bar | None = None,
    *,
    headline: bool = False,
) -> Row:
    share = counts[right] / counts[of] if counts[of] else 0.0
    note = f"{counts[right]} of {counts[of]}"
    return Row(SECTION, what, share, "", bar, note, headline=headline)


def _counted(judged: list[dict[str, Any]], said: Said) -> Counter[str]:
    counts = Counter[str]()
    for each in judged:
        counts["entities"] += 1
        if each.get("entry_point"):
            counts["entry"] += 1
        statement = said.get((each["path"], each["name"]))
        if statement is not None:
            _compare(each, statement, counts)
    return counts


def _compare(judged: Mapping[str, Any], statement: Statement, counts: Counter[str]) -> None:
    shown = statement.shown()
    right = shown.type.value == judged["class"]
    counts["right"] += right
    counts["entry_right"] += bool(judged.get("entry_point") and shown.entry_point)
    if shown.confidence >= _SURE:
        counts.update(["sure"])
        counts["sure_right"] += right
    if right and shown.type is EntityClass.HORIZONTAL:
        counts["technology"] += 1
        counts["technology_right"] += shown.technology_type == judged["technology"]
    if right and shown.type is EntityClass.VERTICAL:
        counts["feature"] += 1
        counts["feature_right"] += _alike(shown.feature_area or "", judged["feature"])


def _alike(said: str, judged: str) -> bool:
    return singular(said.lower()) == singular(judged.lower())


async def _said(tree: Path) -> Said:
    """Index and justify a tree."""
    with tempfile.TemporaryDirectory() as name:
        service = open_database("sqlite", Path(name))
        database = service.for_owner("codegraph")
        store = await indexed(database, tree, Path(name))
        await Justifier(database, store).run(OWNER.org, OWNER.repo)
        view = await store.view(OWNER.org, OWNER.repo)
        if view is None:
            raise RuntimeError(f"{tree} was indexed, and is not there.")
        found = await StatementStore(database).matching(view, limit=10**6)
        entities = await store.open(view).entities([each.key for each in found[0]])
        await service.close()
    by_key = {each.key: each for each in found[0]}
    return {(each.path, each.qualified): by_key[key] for key, each in entities.items()}


async def indexed(database: OwnedDatabase, tree: Path, data: Path) -> GraphStore:
    """Index a tree into a new database; returns the graphs.

    Args:
        database: the plugin's database.
        tree: the tree.
        data: a directory for what the indexer keeps.
    """
    await database.migrate(MIGRATIONS)
    async with database.begin() as connection:
        await connection.execute(repositories.insert().values(row_of()))
    store = GraphStore(database)
    indexer = Indexer(store, data / "indexing", Limits())
    await indexer.index(Source(OWNER.org, OWNER.repo, tree))
    await indexer.close()
    return store


async def _large() -> list[Row]:
    """A million lines: everything, and again where nothing has changed."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        await asyncio.to_thread(copy, directory / "large", lines=LINES, files=10**9)
        service = open_database("sqlite", directory)
        database = service.for_owner("codegraph")
        store = await indexed(database, directory / "large", directory)
        justifier = Justifier(database, store)
        start, worked = time.perf_counter(), time.process_time()
        counts = await justifier.run(OWNER.org, OWNER.repo)
        whole, work = time.perf_counter() - start, time.process_time() - worked
        start = time.perf_counter()
        await justifier.run(OWNER.org, OWNER.repo)
        again = time.perf_counter() - start
        await service.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = "a million lines justified from facts"
    note = f"{counts['written']:,} entities"
    return [
        Row(SECTION, what, whole, "s", Bar("under", 60), note, headline=True),
        Row(SECTION, "processor time of that", work, "s"),
        Row(SECTION, "the same, where nothing has changed", again, "s"),
        Row(
            SECTION,
            "memory at most, with the index before it",
            peak,
            "MiB",
            Bar("under", 1024),
            "this process, without the index's workers",
            headline=True,
        ),
    ]
