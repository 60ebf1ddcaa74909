"""The playbook at 10,000 workflows: search, select and add over HTTP on loopback.

Beside Porch stands a bare server of the official SDK that returns a constant: the very results that
Porch gave, kept in memory. As in :mod:`benchmarks.overhead`, each server has one process on one
core, rounds are interleaved, and a ratio is the median of the rounds' own ratios. The questions'
embeddings are remembered, so that a search is timed without the model; adding includes it.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import uuid
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.judged import data_directory
from benchmarks.load import Figures, middle
from benchmarks.peers import Served
from benchmarks.playbook import WORKFLOWS, bare, configure, filled
from benchmarks.processes import SERVER_CORE, free_port, running
from benchmarks.skill_library import settle
from benchmarks.table import Bar, Row
from benchmarks.tool_client import NUMBER, Asked, answer, taken

SECTION = "workflows"
ROUNDS = 5
SECONDS = 0.4
AT_ONCE = 16
STEPS = 50
BARE_CALLS = 300
SEARCH, SELECT = 5.0, 3.0
"""The bars of the embedded default: milliseconds of the median call."""
QUESTIONS = (
    "review a pull request before it is merged",
    "compress a folder of pictures",
    "find out why the network is slow",
    "move a database to another server",
    "list what is installed on this machine",
    "convert a video for the web",
    "code review workflow",
    "work with git branches",
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of call.

    Attributes:
        name: what the rows call it.
        asked: what to call, at whichever server.
        limit: milliseconds that its median has to be under on SQLite, or None.
    """

    name: str
    asked: Asked
    limit: float | None = None


def measure() -> list[Row]:
    """SQLite, and PostgreSQL where a server is named."""
    sets = data_directory()
    rows = _database("SQLite", "sqlite", sets)
    if server := os.environ.get("PORCH_TEST_POSTGRES"):
        with _postgres(server.replace("+asyncpg", "")) as address:
            rows += _database("PostgreSQL", address, sets)
    return rows


def _database(name: str, address: str, sets: Path) -> list[Row]:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "meaning"
        words = Path(directory) / "words"
        configure(place, address, "embedded")
        configure(words, address, "none")
        token = asyncio.run(filled(place, sets))
        (words / "data").symlink_to(place / "data")
        rows = asyncio.run(_bare(name, place))
        with _portal(place) as portal:
            fifty = _made(portal, token)
            kinds = [
                Kind("search by meaning", search(portal.port), SEARCH),
                Kind(f"select_workflow, {STEPS} steps", selecting(portal.port, fifty), SELECT),
                Kind("add_workflow", adding(portal.port, token)),
            ]
            rows += _beside(name, kinds, portal, Path(directory))
        with _portal(words) as portal:
            kinds = [Kind("search by text", search(portal.port), SEARCH)]
            rows += _beside(name, kinds, portal, Path(directory))
    return rows


def search(port: int) -> Asked:
    """Searches that take turns."""
    questions = [{"task": question} for question in QUESTIONS]
    return Asked(port, "get_available_workflows", questions, "workflows")


def selecting(port: int, workflow_id: str) -> Asked:
    """Selections of one workflow."""
    return Asked(port, "select_workflow", [{"workflow_id": workflow_id}], "executionPlan")


def adding(port: int, token: str) -> Asked:
    """Workflows of three steps, each another one."""
    added = workflow(f"Release {NUMBER} of the portal", 3)
    return Asked(port, "add_workflow", [added], "id", token=token)


def workflow(name: str, steps: int, **more: Any) -> dict[str, Any]:
    """The arguments of ``add_workflow`` for one of so many steps, in stages of ten at most."""
    prompts = [
        {"name": f"Step {number}", "content": f"What to do in step {number}. " * 20}
        for number in range(steps)
    ]
    stages = [
        {"name": f"Stage {first // 10}", "prompts": prompts[first : first + 10]}
        for first in range(0, steps, 10)
    ]
    return {"name": name, "description": f"How {name} is done.", "stages": stages, **more}


def _made(portal: Served, token: str) -> str:
    """Write the workflow that is selected; gives its id."""
    arguments = workflow("A long one", STEPS, visibility="PUBLIC")
    body = asyncio.run(answer(Asked(portal.port, "add_workflow", [arguments], "id", token=token)))
    found: str = json.loads(body)["result"]["structuredContent"]["id"]
    return found


async def _bare(name: str, place: Path) -> list[Row]:
    """How long the database alone takes, for information."""
    from gateway.config.portal import load_portal
    from gateway.services import open_services

    async with open_services(load_portal(place / "config").config.services, place / "data") as each:
        reads, writes = await bare(each.for_plugin("workflows").database, BARE_CALLS)
        times = {"a bare SELECT by primary key": reads, "a bare INSERT of one row": writes}
        if each.embedder is not None and name == "SQLite":
            times["the embedding of a question"] = await _embedding(each.embedder)
    return [
        Row(
            SECTION,
            f"{what}, in the process, {name}, p50",
            median(taken),
            "ms",
            note=f"p99 {quantiles(taken, n=100)[98]:.2f} ms",
        )
        for what, taken in times.items()
    ]


async def _embedding(embedder: Any) -> list[float]:
    from time import perf_counter

    taken = []
    for question in (*QUESTIONS[:1], *QUESTIONS):
        begun = perf_counter()
        await embedder.query(question)
        taken.append((perf_counter() - begun) * 1000)
    return taken[1:]


@contextmanager
def _portal(place: Path) -> Generator[Served]:
    """A portal that has settled."""
    port = free_port()
    command = ["-m", "benchmarks.playbook", "portal", str(place), str(port)]
    with running(command, port, core=SERVER_CORE) as process:
        asyncio.run(answer(search(port)))  # the first search reads the index
        settle(process)
        yield Served(port, process.pid)


def _beside(database: str, kinds: Sequence[Kind], portal: Served, place: Path) -> list[Row]:
    """Porch and a constant that says the same, one and several at once."""
    for kind in kinds:
        body = asyncio.run(answer(replace(kind.asked, first=-1)))
        (place / f"{kind.asked.tool}.json").write_text(json.dumps(json.loads(body)["result"]))
    port = free_port()
    command = ["-m", "benchmarks.playbook", "constant", str(place), str(port)]
    with running(command, port, core=SERVER_CORE) as process:
        peers = {"porch": portal, "bare": Served(port, process.pid)}
        return [
            row
            for kind in kinds
            for at_once in (1, AT_ONCE)
            for row in compared(kind, database, at_once, _rounds(kind, at_once, peers))
        ]


def _rounds(kind: Kind, at_once: int, peers: Mapping[str, Served]) -> dict[str, list[Figures]]:
    first = at_once * 10_000_000
    asked = replace(kind.asked, connections=at_once, seconds=SECONDS, first=first)
    return taken(
        {name: replace(asked, port=peer.port, server=peer.pid) for name, peer in peers.items()},
        ROUNDS,
    )


def compared(
    kind: Kind, database: str, at_once: int, found: Mapping[str, list[Figures]]
) -> list[Row]:
    """Porch's figures beside the constant's.

    Args:
        kind: what was called.
        database: the database's name.
        at_once: how many connections.
        found: the rounds of ``porch`` and of ``bare``.
    """
    porch, constant = middle(found["porch"]), middle(found["bare"])
    rounds = zip(found["porch"], found["bare"], strict=True)
    ratios = [ours.rate / theirs.rate for ours, theirs in rounds]
    what = f"{kind.name} among {WORKFLOWS:,} workflows, {database}, {at_once} at once"
    judged = kind.limit is not None and database == "SQLite" and at_once == 1
    return [
        Row(
            SECTION,
            f"{what}, p50",
            porch.p50,
            "ms",
            Bar("under", kind.limit) if judged and kind.limit is not None else None,
            f"p99 {porch.p99:.2f} ms; a bare mcp server's constant: p50 {constant.p50:.2f}, p99 "
            f"{constant.p99:.2f} ms",
            headline=at_once == 1,
        ),
        Row(
            SECTION,
            what,
            porch.rate,
            "calls/s",
            note=f"{median(ratios):.2f} of the constant's, rounds from {min(ratios):.2f} to "
            f"{max(ratios):.2f}; CPU {porch.cpu:.0f} us a call, {porch.cpu / constant.cpu:.1f} of "
            "the constant's",
        ),
    ]


@contextmanager
def _postgres(server: str) -> Generator[str]:
    """The address of an empty database, dropped at the end."""
    name = f"porch_bench_{uuid.uuid4().hex}"
    asyncio.run(_told(server, f'CREATE DATABASE "{name}"'))
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        asyncio.run(_told(server, f'DROP DATABASE "{name}" WITH (FORCE)'))


async def _told(server: str, statement: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
