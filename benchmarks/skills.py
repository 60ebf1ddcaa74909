"""1,000 skills from a directory: lists and reads over HTTP on loopback, and the index.

Beside Porch stands a bare server of the official SDK that returns a constant: the very results
that Porch gave, kept in memory. As in :mod:`benchmarks.overhead`, each server has one process on
one core, rounds are interleaved, and a ratio is the median of the rounds' own ratios.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.judged import data_directory
from benchmarks.load import Connection, Figures, Load, measured, middle
from benchmarks.peers import Served
from benchmarks.processes import SERVER_CORE, free_port, memory, running
from benchmarks.skill_library import PAGES, indexed, settle, write_shelf
from benchmarks.table import Bar, Row
from benchmarks.wire import ERAS, SKILLS, SKILLS_PAGE, Checker, Era, Kind, bodies, framed, head

SECTION = "skills"
ROUNDS = 5
CONNECTIONS = (1, 32)
STARTS = 3
SHARE, FIRST_ANSWER, MEMORY = 0.8, 3.0, 400
"""The bars: the part of a constant's throughput that a warm read reaches; seconds; MiB."""
NAMES: Mapping[Kind, str] = {
    "list_skills": f"list_skills, {SKILLS:,} skills",
    "skills": f"skills/list, a page of {SKILLS_PAGE} of {SKILLS:,}",
    "get_skill": "get_skill, warm",
    "get_skill_anew": "get_skill, cold (skipCache: the file is read anew)",
}
_CONSTANTS: tuple[Kind, ...] = ("list_skills", "get_skill", "skills")

Measured = dict[str, list[Figures]]


def measure() -> list[Row]:
    """The index, then a portal from its first start on, then its calls beside a constant's."""
    sets = data_directory()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        write_shelf(sets, place)
        rows = [row for kind in ("docs", "skills") for row in _indexing(place, kind)]
        _started(place)  # so that the next starts find the index and the vectors
        starts = [_started(place) for _ in range(STARTS - 1)]
        with _portal(place) as (portal, seconds):
            rows += _start(portal, [*starts, seconds])
            with _constant(place, portal) as bare:
                rows += [
                    row
                    for kind in NAMES
                    for era in (ERAS if kind == "get_skill" else ERAS[:1])
                    for row in _beside(kind, era, portal, bare)
                ]
    return rows


def _indexing(place: Path, kind: str) -> list[Row]:
    found = indexed(place, kind)
    files, seconds = found["files"], found["seconds"]
    what = f"index of {found['entries']:,} {kind}, {files:,} files"
    note = f"{seconds:.2f} s, each file read once"
    return [
        Row(SECTION, what, files / seconds, "files/s", note=note, headline=True),
        Row(SECTION, f"{what}: memory at its most beyond that before", found["peak"], "MiB"),
    ]


def _start(portal: Served, seconds: Sequence[float]) -> list[Row]:
    now, most = memory(portal.pid)
    what = f"with {SKILLS:,} skills and {PAGES:,} pages"
    return [
        Row(
            SECTION,
            f"from spawn to a right list_skills, warm, {what}",
            median(seconds),
            "s",
            Bar("under", FIRST_ANSWER),
            f"{len(seconds)} starts from {min(seconds):.2f} to {max(seconds):.2f} s",
        ),
        Row(
            SECTION,
            f"memory {what}",
            now,
            "MiB",
            Bar("under", MEMORY),
            f"at its most {most:.0f} MiB",
        ),
    ]


def _started(place: Path) -> float:
    with _portal(place) as (_, seconds):
        return seconds


@contextmanager
def _portal(place: Path) -> Generator[tuple[Served, float]]:
    """A portal that has answered and settled, and the seconds to its first right list."""
    port = free_port()
    command = ["-m", "benchmarks.skill_library", "portal", str(place), str(port)]
    began = time.perf_counter()
    with running(command, port, core=SERVER_CORE) as process:
        asyncio.run(_answer(port, "list_skills"))
        seconds = time.perf_counter() - began
        settle(process)
        yield Served(port, process.pid), seconds


@contextmanager
def _constant(place: Path, portal: Served) -> Generator[Served]:
    """A bare server that returns what the portal answers now."""
    for kind in _CONSTANTS:
        body = asyncio.run(_answer(portal.port, kind))
        (place / f"{kind}.json").write_text(json.dumps(json.loads(body)["result"]))
    port = free_port()
    command = ["-m", "benchmarks.skill_library", "constant", str(place), str(port)]
    with running(command, port, core=SERVER_CORE) as process:
        yield Served(port, process.pid)


async def _answer(port: int, kind: Kind) -> bytes:
    """One answer, once it has been found right."""
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
    request = framed(head("modern", kind, port), bodies("modern", kind) % {b"n": 1})
    _, body = await connection.exchange(request)
    connection.close()
    Checker(kind)(body, 1)
    return body


def _beside(kind: Kind, era: Era, portal: Served, bare: Served) -> list[Row]:
    """Porch and the constant, at each number of connections."""
    rows = []
    # Those who ask for a file at the same moment share a read, which would not be cold for each.
    for connections in CONNECTIONS[:1] if kind == "get_skill_anew" else CONNECTIONS:
        found: Measured = {"porch": [], "bare": []}
        for _ in range(ROUNDS):
            for name, peer in (("porch", portal), ("bare", bare)):
                found[name].append(measured(Load(peer.port, era, kind, connections), peer.pid))
        rows += compared(kind, f"{era} at {connections}", found)
    return rows


def compared(kind: Kind, where: str, found: Measured) -> list[Row]:
    """Both servers' figures, and Porch's throughput as a part of the constant's.

    Args:
        kind: what was asked.
        where: the era, and how many connections.
        found: the rounds of ``porch`` and of ``bare``.
    """
    porch, bare = middle(found["porch"]), middle(found["bare"])
    rounds = zip(found["porch"], found["bare"], strict=True)
    ratios = [ours.rate / theirs.rate for ours, theirs in rounds]
    is_judged = kind == "get_skill"
    return [
        _figures(f"{NAMES[kind]}, {where}", porch),
        _figures(f"the same from a bare mcp server's constant, {where}", bare),
        Row(
            SECTION,
            f"{NAMES[kind]}: Porch's calls/s over the constant's, {where}",
            median(ratios),
            bar=Bar("at least", SHARE) if is_judged else None,
            note=f"{len(ratios)} rounds from {min(ratios):.2f} to {max(ratios):.2f}; "
            f"CPU {porch.cpu / bare.cpu:.2f} of it",
            headline=is_judged,
        ),
    ]


def _figures(what: str, figures: Figures) -> Row:
    note = f"p50 {figures.p50:.2f} ms, p99 {figures.p99:.2f} ms, CPU {figures.cpu:.0f} us a call"
    return Row(SECTION, what, figures.rate, "calls/s", note=note)
