"""How long a portal takes to its first right answer, and its commands; the memory it holds."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import commands
from benchmarks.portal import Portal, spawned
from benchmarks.processes import ROOT, await_port, memory
from benchmarks.table import Bar, Row

SECTION = "startup"
STARTS = 3
SEARCHES = 100
LISTENING, FIRST_ANSWER, WARM, INDEXED = 1.0, 2.0, 350, 650
"""The bars: seconds until it listens and until the first right answer; MiB after a warm start and
the searches; MiB after a full index."""
_GIVE_UP = 60.0
_STARTER_QUESTIONS = {
    "What is a hat in Hats Protocol?": {"hat", "hats-protocol"},
    "Prove that a wallet is mine": {"siwe", "wallet", "eip-4361"},
    "A record of who called what": {"audit-record"},
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """A knowledge base: its name, its directory, and questions with the ids that answer them."""

    name: str
    directory: Path
    questions: Mapping[str, Set[str]]


def corpus() -> Corpus:
    """civic-kb where ``PORCH_TEST_DATA`` leads to it, else the starter content."""
    data = os.environ.get("PORCH_TEST_DATA")
    if data is None:
        name = "the starter content, as PORCH_TEST_DATA is not set"
        return Corpus(name, ROOT / "content", _STARTER_QUESTIONS)
    place = Path(data, "civic-kb")
    judged = json.loads((place / "queries.json").read_text(encoding="utf-8"))["queries"]
    questions = {one["query"]: {each["id"] for each in one["relevant"]} for one in judged}
    return Corpus("civic-kb", place / "repo", questions)


def measure() -> list[Row]:
    """Index once, then start warm a few times."""
    base = corpus()
    with tempfile.TemporaryDirectory() as place:
        data = Path(place)
        indexed = _indexed(base, data)
        starts = [_start(base, data) for _ in range(STARTS)]
        with spawned(base.directory, data) as portal:
            portal.await_ready()
            asked = [*commands.beside(SECTION, data)]
        asked += commands.alone(SECTION, data)
    seconds = [start.seconds for start in starts]
    return [
        Row(
            SECTION,
            f"from spawn to the first right answer, warm, {base.name}",
            median(seconds),
            "s",
            Bar("under", FIRST_ANSWER),
            f"{STARTS} starts from {min(seconds):.2f} to {max(seconds):.2f} s, vectors included",
            headline=True,
        ),
        Row(
            SECTION,
            "from spawn to listening, warm",
            median(start.listening for start in starts),
            "s",
            Bar("under", LISTENING),
        ),
        _memory(f"after a warm start and {SEARCHES} searches", starts[-1].held, WARM),
        _memory(f"after a full index of {base.name}", indexed, INDEXED),
        *asked,
    ]


@dataclass(frozen=True, slots=True)
class Start:
    """One warm start: seconds until it listens and has answered, MiB after the searches."""

    listening: float
    seconds: float
    held: tuple[float, float]


def _indexed(base: Corpus, data: Path) -> tuple[float, float]:
    """Index everything; gives the memory right after."""
    with spawned(base.directory, data) as portal:
        portal.await_ready()
        held = memory(portal.process.pid)
        _first_right_answer(portal, base)
        return held


def _start(base: Corpus, data: Path) -> Start:
    with spawned(base.directory, data) as portal:
        await_port(portal.process, portal.port)
        listening = time.perf_counter() - portal.spawned
        _first_right_answer(portal, base)
        seconds = time.perf_counter() - portal.spawned
        for query in islice(cycle(base.questions), SEARCHES):
            portal.search(query)
        return Start(listening, seconds, memory(portal.process.pid))


def _first_right_answer(portal: Portal, base: Corpus) -> None:
    """Ask the first question until its answer is right and was found by meaning too."""
    query, wanted = next(iter(base.questions.items()))
    answer: dict[str, Any] = {}
    until = time.perf_counter() + _GIVE_UP
    while time.perf_counter() < until:
        portal.still_running()
        try:
            answer = portal.search(query)
        except OSError:
            time.sleep(0.005)
            continue
        best = {each["id"] for each in answer["results"][:3]}
        if answer["mode"] == "hybrid" and best & wanted:
            return
    raise RuntimeError(f"no right answer to {query!r}: {answer}")


def _memory(when: str, held: tuple[float, float], most: float) -> Row:
    now, peak = held
    note = f"at its most {peak:.0f} MiB"
    return Row(SECTION, f"memory {when}", now, "MiB", Bar("under", most), note=note, headline=True)
