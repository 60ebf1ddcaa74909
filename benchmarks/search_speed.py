"""How fast a portal indexes and searches: over HTTP, the embedding of each query included."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.judged import OWN_QUESTIONS, data_directory, judged
from benchmarks.library import Library, library
from benchmarks.portal import HEADERS, search_call, spawned
from benchmarks.table import Bar, Row

SECTION = "search_speed"
SIZES = {1_000: 8.0, 10_000: 12.0}
"""Documents, and the bar of the median search in milliseconds."""
WARM_UP = 100
CALLS = 400
_READY_SECONDS = 900.0


def measure() -> list[Row]:
    """Index civic-kb from inside, then search two portals from outside."""
    sets = data_directory()
    rows = asyncio.run(_indexing(sets / "civic-kb" / "repo"))
    for size, bar in SIZES.items():
        with tempfile.TemporaryDirectory() as directory:
            content = Path(directory) / "content"
            write_pages(sets, content, size)
            rows += _searching(content, Path(directory) / "data", size, bar)
    return rows


def write_pages(sets: Path, content: Path, size: int) -> None:
    """Write a knowledge base of about that many documents: civic-kb, tldr pages, made-up ones.

    Args:
        sets: the directory of data sets.
        content: where to write; it is made.
        size: how many documents.
    """
    shutil.copytree(sets / "civic-kb" / "repo", content)
    missing = size - sum(1 for _ in content.rglob("*.md"))
    folder = content / "notes" / "pages"
    folder.mkdir()
    for number, text in enumerate(islice(_pages(sets), missing)):
        (folder / f"page-{number}.md").write_text(f"---\npublish: true\n---\n{text}")


async def _indexing(content: Path) -> list[Row]:
    """How fast civic-kb is indexed, and that a second time nothing is read."""
    with tempfile.TemporaryDirectory() as data:
        async with library(content, Path(data)) as opened:
            await opened.host.embedder.query("warm up")  # type: ignore[union-attr]
            seconds, busy, texts = await _synced(opened)
            again = (await _synced(opened))[2]
    return [
        Row(SECTION, "indexing civic-kb, texts embedded", texts / seconds, "texts/s"),
        Row(
            SECTION,
            "indexing civic-kb, the model is busy",
            100 * busy / seconds,
            "%",
            Bar("at least", 80),
            f"{texts:,} texts in {seconds:.0f} s",
            headline=True,
        ),
        Row(SECTION, "indexing it again, texts the model reads", again, bar=Bar("at most", 0)),
    ]


async def _synced(opened: Library) -> tuple[float, float, int]:
    """One sync: its seconds, the model's seconds, the texts that the model read."""
    busy, texts = opened.usage.seconds, opened.usage.texts
    begun = time.perf_counter()
    await opened.sync.run()
    seconds = time.perf_counter() - begun
    return seconds, opened.usage.seconds - busy, opened.usage.texts - texts


def _searching(content: Path, data: Path, size: int, bar: float) -> list[Row]:
    """How long a search takes at a portal with that many documents."""
    with spawned(content, data) as portal:
        portal.await_ready(_READY_SECONDS)
        times = _timed(portal.port, [question.text for question in judged(OWN_QUESTIONS)])
    return [
        Row(
            SECTION,
            f"search_knowledge at {size:,} documents, p50",
            median(times),
            "ms",
            Bar("under", bar),
            f"p95 {quantiles(times, n=20)[18]:.1f} ms, {CALLS} calls over MCP",
            headline=True,
        )
    ]


def _timed(port: int, questions: list[str]) -> list[float]:
    """Milliseconds of each call after the warm-up, on one kept-alive connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    times = []
    for question in islice(cycle(questions), WARM_UP + CALLS):
        body = search_call(question)
        begun = time.perf_counter()
        connection.request("POST", "/mcp", body, HEADERS)
        answer = connection.getresponse().read()
        times.append((time.perf_counter() - begun) * 1000)
        if not json.loads(answer)["result"]["structuredContent"]["results"]:
            raise RuntimeError(f"no results for {question!r}: {answer[:300]!r}")
    return times[WARM_UP:]


def _pages(sets: Path) -> Iterator[str]:
    """The tldr pages, then as many short pages as anyone wants."""
    with (sets / "scale-tldr" / "pages.jsonl").open(encoding="utf-8") as lines:
        yield from (json.loads(line)["text"] for line in lines)
    for number in count():
        topic = f"{_TOPICS[number % len(_TOPICS)]} {number}"
        yield f"# Notes on {topic}\n\nWhat the team agreed about {topic}, and who follows it up."


_TOPICS = ("budgets", "meetings", "roles", "tools", "travel", "hiring", "security", "events")
