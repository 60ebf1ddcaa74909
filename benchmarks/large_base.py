"""A portal with 100,000 documents on one machine: search, many clients, memory, one push.

``porch serve`` over a GitHub on loopback, asked over MCP. Most documents are tldr pages again under
titles of their own; what that means for their vectors is said in ``near_vectors.py``.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles

from benchmarks.judged import OWN_QUESTIONS, data_directory, judged
from benchmarks.knowledge_sync import NAME, pushed, served
from benchmarks.portal import HEADERS, Portal, search_call
from benchmarks.processes import cpu_seconds, memory
from benchmarks.table import Bar, Row
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

SECTION = "large_base"
DOCUMENTS = 100_000
READ = 1_500
"""The tldr pages that the model reads; the others are these under other titles."""
FOLDER = 1_000
"""Pages in a folder."""
CLIENTS = 16
CALLS, WARM_UP, CALLS_EACH = 200, 50, 50
PUSHES = 5
_READY_SECONDS = 3_600.0
_LETTERS = "bcdfghjklmnpqrtvwxz"
MADE_NOTE = f"civic-kb and {READ:,} tldr pages embedded, the rest near them"


def measure() -> list[Row]:
    """Fill one portal, then ask and push."""
    with tempfile.TemporaryDirectory() as place, GithubContents() as github:
        root = Path(place)
        history = _repository(root / "kb")
        github.repos[NAME] = Repo(history.directory, history=history)
        with served(root, github.url, "benchmarks.near_vectors") as portal:
            portal.await_ready(_READY_SECONDS)
            filled = time.perf_counter() - portal.spawned
            return [
                Row(SECTION, f"{DOCUMENTS:,} documents indexed", filled, "s", None, MADE_NOTE),
                *_searched(portal),
                _used(portal),
                _written(portal, history),
            ]


def _repository(directory: Path) -> History:
    """A branch of so many published notes."""
    sets = data_directory()
    history = History.begun(directory)
    shutil.copytree(sets / "civic-kb" / "repo", directory, dirs_exist_ok=True)
    missing = DOCUMENTS - sum(1 for _ in directory.rglob("*.md"))
    with (sets / "scale-tldr" / "pages.jsonl").open(encoding="utf-8") as lines:
        pages = [json.loads(line)["text"] for line in islice(lines, READ)]
    for number, text in enumerate(islice(cycle(pages), missing)):
        file = directory / "notes" / f"pages-{number // FOLDER}" / f"page-{number}.md"
        file.parent.mkdir(exist_ok=True)
        name, _, body = text.partition("\n")
        file.write_text(f"---\npublish: true\n---\n{name} {_word(number)}\n{body}")
    history.commit({})
    return history


def _word(number: int) -> str:
    """A word that no other page has."""
    letters = ""
    for _ in range(6):
        number, place = divmod(number, len(_LETTERS))
        letters += _LETTERS[place]
    return letters


def _searched(portal: Portal) -> list[Row]:
    questions = [one.text for one in judged(OWN_QUESTIONS)]
    embedding = asyncio.run(_embedding(questions))
    before = cpu_seconds(portal.process.pid)
    times = _timed(portal.port, questions, WARM_UP + CALLS)[WARM_UP:]
    cpu = (cpu_seconds(portal.process.pid) - before) / (WARM_UP + CALLS) * 1000
    begun = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        shares = [questions[number:] + questions[:number] for number in range(CLIENTS)]
        answered = list(pool.map(lambda some: _timed(portal.port, some, CALLS_EACH), shares))
    rate = sum(map(len, answered)) / (time.perf_counter() - begun)
    p95 = quantiles(times, n=20)[18]
    note = f"{median(times):.1f} ms with it, p95 {p95:.1f}; {cpu:.1f} ms of processor each"
    return [
        Row(SECTION, f"a search at {DOCUMENTS:,} documents beside the embedding, p50",
            median(times) - embedding, "ms", Bar("under", 15), note, headline=True),
        Row(SECTION, f"searches by {CLIENTS} clients at {DOCUMENTS:,} documents", rate, "/s",
            Bar("at least", 200), "one process, over MCP, with the embedding", headline=True),
    ]  # fmt: skip


def _timed(port: int, questions: Sequence[str], calls: int) -> list[float]:
    """Milliseconds of each call on one kept-alive connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    for question in islice(cycle(questions), calls):
        body = search_call(question)
        begun = time.perf_counter()
        connection.request("POST", "/mcp", body, HEADERS)
        answer = connection.getresponse().read()
        times.append((time.perf_counter() - begun) * 1000)
        if "results" not in json.loads(answer)["result"]["structuredContent"]:
            raise RuntimeError(f"no answer to {question!r}: {answer[:300]!r}")
    return times


async def _embedding(questions: Sequence[str]) -> float:
    """What embedding a question takes here, p50 in milliseconds."""
    from gateway.services.embedding.service import open_embedder

    embedder = open_embedder("embedded")
    assert embedder is not None
    times = []
    for question in (*questions[:10], *questions):
        begun = time.perf_counter()
        await embedder.query(question)
        times.append((time.perf_counter() - begun) * 1000)
    await embedder.close()
    return median(times[10:])


def _used(portal: Portal) -> Row:
    now, most = memory(portal.process.pid)
    note = f"after the searches; {most / 1024:.2f} GiB at most, while it was filled"
    what = f"memory of a portal with {DOCUMENTS:,} documents"
    return Row(SECTION, what, now / 1024, "GiB", Bar("under", 2), note, headline=True)


def _written(portal: Portal, history: History) -> Row:
    pages = sorted((history.directory / "notes").glob("pages-*/*.md"))[:PUSHES]
    took = [pushed(portal, history, [page]) for page in pages]
    note = f"median of {PUSHES}, {max(took):.2f} s at most; until a search finds it"
    what = f"push of one changed note at {DOCUMENTS:,} documents, searchable"
    return Row(SECTION, what, median(took), "s", Bar("under", 2), note, headline=True)
