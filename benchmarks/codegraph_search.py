"""How well and how fast code is found, and how many bytes an agent reads for an answer."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.code_library import CodeLibrary, code_library, copied
from benchmarks.judged import Question, mean, ndcg
from benchmarks.many_entities import ENTITIES, REPO, fill
from benchmarks.table import Bar, Row, Unmeasurable
from plugins.codegraph.model import Entity
from plugins.codegraph.search.embedder import EMBEDDED
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.stored_graph import Graph

SECTION = "codegraph_search"
PRODUCT = "the product"
DEPTH = 10
PACKAGES = ("starlette", "click", "jinja2")
CALLS, WARM_UP = 300, 30
_DATA = Path(__file__).parent / "data"

Searcher = Callable[[Graph, str], Awaitable[list[Entity]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A judged question, and of which package."""

    package: str
    question: Question


def measure() -> list[Row]:
    """Search three packages, count bytes over them, and time searches among many entities."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        for each in ("packages", "many"):
            (home / each).mkdir()
        rows = asyncio.run(_packages(home / "packages"))
        return rows + asyncio.run(_times(home / "many"))


def questions() -> list[Asked]:
    """The questions, judged by reading the packages."""
    found = json.loads((_DATA / "code_questions.json").read_text(encoding="utf-8"))["queries"]
    return [
        Asked(
            one["package"],
            Question(one["query"], {each["entity"]: each["grade"] for each in one["relevant"]}),
        )
        for one in found
    ]


async def _packages(home: Path) -> list[Row]:
    async with code_library(home / "data") as opened:
        if opened.host.embedder is None:
            raise Unmeasurable("The embedded model is missing. Run 'make install'.")
        for package in PACKAGES:
            await opened.index(package, copied(package, home))
        return [*await _quality(opened), *await _bytes(opened, home)]


async def _quality(opened: CodeLibrary) -> list[Row]:
    asked = questions()
    scores: dict[str, list[float]] = {}
    for name, searcher in _searchers(opened).items():
        for one in asked:
            found = await searcher(await opened.graph(one.package), one.question.text)
            ranking = list(dict.fromkeys(f"{each.path}::{each.qualified}" for each in found))
            scores.setdefault(name, []).append(ndcg(ranking, one.question, DEPTH))
    means = {name: mean(values) for name, values in scores.items()}
    best = max(score.mean for name, score in means.items() if name != PRODUCT)
    return [
        Row(
            SECTION,
            f"{len(asked)} questions over {len(PACKAGES)} packages, {name}: nDCG@{DEPTH}",
            round(score.mean, 3),
            bar=Bar("at least", round(best, 3)) if name == PRODUCT else None,
            note=f"95 % {score.low:.2f} to {score.high:.2f}",
            headline=name == PRODUCT,
        )
        for name, score in means.items()
    ]


def _searchers(opened: CodeLibrary) -> dict[str, Searcher]:
    embedder, search = opened.host.embedder, opened.parts.search
    assert embedder is not None
    vectors = CodeVectors(opened.host, embedder)

    async def by_words(graph: Graph, question: str) -> list[Entity]:
        return [one.entity for one in await search.words(graph, question, 40, EMBEDDED)]

    async def by_meaning(graph: Graph, question: str) -> list[Entity]:
        near = await vectors.nearest(graph.repo, await embedder.query(question), 40)
        found = await graph.entities(near)
        return sorted(found.values(), key=lambda each: -near[each.key])

    async def product(graph: Graph, question: str) -> list[Entity]:
        return [one.entity for one in (await search.meaning(graph, question, 40)).ranked]

    return {"keyword alone": by_words, "semantic alone": by_meaning, PRODUCT: product}


async def _bytes(opened: CodeLibrary, home: Path) -> list[Row]:
    """The same questions answered through a tool, and by reading the files it is about."""
    tasks = json.loads((_DATA / "code_tasks.json").read_text(encoding="utf-8"))["tasks"]
    judged = {(one.package, one.question.text): one.question.grades for one in questions()}
    through = whole = 0
    for task in tasks:
        answer, size = await opened.answer(task["tool"], task["package"], task["args"])
        files = _files(task, answer, judged)
        through += size
        whole += sum((home / task["package"] / each).stat().st_size for each in files)
    return [
        Row(SECTION, f"{len(tasks)} questions through the tools", through / 1000, "kB"),
        Row(SECTION, "the same by reading the files they are about", whole / 1000, "kB"),
        Row(
            SECTION,
            "bytes saved by the tools",
            whole / through,
            "times",
            note="the files that hold the answers, found at once",
            headline=True,
        ),
    ]


def _files(
    task: Mapping[str, Any], answer: Mapping[str, Any], judged: Mapping[Any, Mapping[str, int]]
) -> set[str]:
    """The files that must be read whole for a task's answer."""
    if grades := judged.get((task["package"], task["args"].get("query"))):
        return {name.split("::")[0] for name, grade in grades.items() if grade >= 2}
    listed = {each["file"] for each in answer.get("data", [])}
    return listed | ({task["file"]} if "file" in task else set())


async def _times(data: Path) -> list[Row]:
    async with code_library(data) as opened:
        await fill(opened)
        texts = [one.question.text for one in questions()]
        return [
            *await _timed(opened, "semantic_search", texts, (20.0, 80.0)),
            *await _timed(opened, "search_code", texts, (10.0, 50.0)),
        ]


async def _timed(
    opened: CodeLibrary, tool: str, texts: Sequence[str], bars: tuple[float, float]
) -> list[Row]:
    times = []
    for number in range(WARM_UP + CALLS):
        begun = time.perf_counter()
        await opened.answer(tool, REPO, {"query": texts[number % len(texts)]})
        times.append((time.perf_counter() - begun) * 1000)
    shown = f"{tool} among {ENTITIES:,} entities"
    note = "with the query's embedding" if tool == "semantic_search" else ""
    measured = times[WARM_UP:]
    p95 = quantiles(measured, n=20)[18]
    return [
        Row(SECTION, f"{shown}, p50", median(measured), "ms", Bar("under", bars[0]), note, True),
        Row(SECTION, f"{shown}, p95", p95, "ms", Bar("under", bars[1]), note),
    ]
