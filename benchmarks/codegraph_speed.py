"""Indexing real packages: a whole index, one changed file, and nothing changed.

The packages are those of this environment that are largest in Python files; copies of them make up
the lines that are wanted (``PORCH_BENCH_LINES``, a million by default). Each copy has a line of its
own, so that no file is parsed as cheaply as one that was met before. Memory is that of this process
and its workers together, without what they share.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.codegraph_queries import MIGRATIONS, OWNER, row_of
from benchmarks.table import Bar, Row
from gateway.services.database.service import open_database
from plugins.codegraph.indexer.indexer import Indexer
from plugins.codegraph.indexer.scan import Limits
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.store.tables import repositories

SECTION = "codegraph_speed"
PACKAGES = ("sqlalchemy", "pydantic", "hypothesis", "starlette", "mcp", "click", "jinja2", "rich")
LINES = int(os.environ.get("PORCH_BENCH_LINES", "1000000"))
SMALL = 5_000
"""Files of the tree in which one is changed, or none."""


def measure() -> list[Row]:
    """Both trees, on SQLite."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        copy(directory / "large", lines=LINES, files=10**9)
        rows = asyncio.run(_whole(directory / "large", directory / "one"))
        shutil.rmtree(directory / "large")
        copy(directory / "small", lines=10**9, files=SMALL)
        return rows + asyncio.run(_small(directory / "small", directory / "two"))


def _sources() -> Iterator[Path]:
    site = Path(sysconfig.get_paths()["purelib"])
    for package in PACKAGES:
        yield from sorted((site / package).rglob("*.py"))


def copy(root: Path, *, lines: int, files: int) -> None:
    """Copy packages, again and again, until there are so many lines or files; no two alike."""
    site = Path(sysconfig.get_paths()["purelib"])
    sources = [(path.relative_to(site), path.read_bytes()) for path in _sources()]
    copied = made = number = 0
    while True:
        for path, data in sources:
            if copied >= lines or made >= files:
                return
            target = root / f"copy{number}" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"%b\n# copy %d\n" % (data, number))
            copied, made = copied + data.count(b"\n") + 2, made + 1
        number += 1


async def _whole(root: Path, data: Path) -> list[Row]:
    peak, watching = [0.0], True

    async def watch() -> None:
        while watching:
            peak[0] = max(peak[0], await asyncio.to_thread(_memory))
            await asyncio.sleep(0.5)

    indexer, close = await _opened(data)
    watcher = asyncio.create_task(watch())
    start = time.perf_counter()
    summary = await indexer.index(Source(OWNER.org, OWNER.repo, root))
    seconds = time.perf_counter() - start
    watching = False
    await watcher
    await close()
    note = f"{summary.lines:,} lines, {summary.files:,} files, {seconds:.0f} s"
    return [
        Row(
            SECTION,
            "index of a million lines of code, store written",
            summary.lines / seconds,
            "lines/s",
            Bar("at least", 15_000),
            note,
            headline=True,
        ),
        Row(
            SECTION,
            "its memory at most, all processes",
            peak[0],
            "MiB",
            Bar("under", 1024),
            headline=True,
        ),
    ]


async def _small(root: Path, data: Path) -> list[Row]:
    indexer, close = await _opened(data)
    source = Source(OWNER.org, OWNER.repo, root)
    await indexer.index(source)
    await asyncio.sleep(1.5)  # what changed within the last second is read again
    await indexer.index(source)
    changed, nothing = [], []
    file = await asyncio.to_thread(lambda: sorted(root.rglob("*.py"))[17])
    for number in range(7):
        await asyncio.to_thread(_append, file, f"\n\ndef added_{number}():\n    return {number}\n")
        changed.append(await _timed(indexer, source))
        await asyncio.sleep(1.2)
        await indexer.index(source)
        nothing.append(await _timed(indexer, source))
    await close()
    note = f"{SMALL:,} files, median of {len(changed)}"
    return [
        Row(
            SECTION,
            "one file of 5,000 changed, indexed",
            median(changed),
            "s",
            Bar("at most", 0.5),
            note,
            headline=True,
        ),
        Row(SECTION, "nothing changed", median(nothing), "s", Bar("at most", 0.2), note),
    ]


def _append(file: Path, text: str) -> None:
    with file.open("a") as opened:
        opened.write(text)


async def _timed(indexer: Indexer, source: Source) -> float:
    start = time.perf_counter()
    await indexer.index(source)
    return time.perf_counter() - start


async def _opened(data: Path) -> tuple[Indexer, Callable[[], Awaitable[None]]]:
    await asyncio.to_thread(data.mkdir)
    service = open_database("sqlite", data)
    database = service.for_owner("codegraph")
    await database.migrate(MIGRATIONS)
    async with database.begin() as connection:
        await connection.execute(repositories.insert().values(row_of()))
    store = GraphStore(database)
    indexer = Indexer(store, data / "indexing", Limits())

    async def close() -> None:
        await indexer.close()
        await service.close()

    return indexer, close


def _memory() -> float:
    """MiB of this process and its children, without what they share twice."""
    total = 0
    for process in (os.getpid(), *_children(os.getpid())):
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(
            (int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0
        )
    return total / 1024


def _children(parent: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            own = [int(each) for each in task.read_text().split()]
        except OSError:
            continue
        found += own
        for each in own:
            found += _children(each)
    return found
