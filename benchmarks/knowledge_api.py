"""The Knowledge Provider API over HTTP at 10,000 entries, beside the protocol's targets.

A real portal on the embedded default (SQLite, a folder, qdrant-edge, MiniLM). The questions and the
entries are all different, so that no answer is remembered. The targets are those of the protocol's
"Performance Requirements" and of its table of layers; beside them stands what an HTTP endpoint, the
model and the database take alone in the same run.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import memory_requests as ask
from benchmarks.judged import data_directory
from benchmarks.load import Load, measured
from benchmarks.memories import Filled, bare, filled, question
from benchmarks.peers import serving
from benchmarks.portal import Portal, spawned
from benchmarks.processes import ABOVE_LOAD, ROOT
from benchmarks.rest_client import Request, Sending, Times, sent
from benchmarks.stream_client import following
from benchmarks.table import Bar, Row
from plugins.knowledge.memory.model.entry import Layer

SECTION = "knowledge_api"
COUNTED = (
    "queries",
    "metadata",
    "creates",
    "updates",
    "deletes",
    "batches",
    "batch_results",
    "streams",
)
LIMITS = {
    **ABOVE_LOAD,
    "operations": {f"knowledge.{name}": ABOVE_LOAD["rest"] for name in COUNTED},
}
"""A caller has 600 queries and 300 writes a minute where nothing else is said."""
LIFTED = "limits.operations lifted"
CALLS, WARM_UP = 300, 20
AT_ONCE = 16
QUERIES, WHOLE, CREATES, LONG, BATCH = 1_200, 300, 500, 150, 400
"""Requests, or entries, of each measure of throughput."""
CLIENTS, UPDATES = 20, 300
"""Who follows the stream, and the updates that all of them are told."""
ALONE = 200
"""Rounds of what is measured alone."""


@dataclass(frozen=True, slots=True)
class Target:
    """Milliseconds that an operation may take, of the protocol.

    Attributes:
        what: the operation.
        limits: at p50, p95 and p99; None where it has none.
        note: where they come from, if not from "Latency Targets".
    """

    what: str
    limits: tuple[float | None, float | None, float | None]
    note: str = ""


_RANGE = "the layer's range in the protocol ends at the bar"
LAYERS: Mapping[Layer, Target] = {
    Layer.WORKING: Target("query of working memory, by words", (1, 5, 10)),
    Layer.SESSION: Target("query of session memory", (5, 20, 50)),
    Layer.EPISODIC: Target("query of episodic memory", (20, 50, 100)),
    Layer.PROCEDURAL: Target("query of procedural memory", (30, None, None), _RANGE),
    Layer.SEMANTIC: Target("query of semantic memory", (50, 100, 200)),
    Layer.USER: Target("query of user memory", (50, None, None), _RANGE),
    Layer.ORGANIZATION: Target("query of organization memory", (200, None, None), _RANGE),
    Layer.ARCHIVAL: Target("query of archival memory", (100, 200, 500)),
}
ACROSS = Target("query of all layers at once", (None, None, None))
CREATE = Target("create, embedded", (50, 100, 200))
UPDATE = Target("update, not embedded", (20, 50, 100))
DELETE = Target("delete, soft", (10, 30, 50))


@dataclass(frozen=True, slots=True)
class Asked:
    """A portal that runs, and who asks it.

    Attributes:
        portal: the portal.
        token: the caller's.
        filled: what it remembers.
    """

    portal: Portal
    token: str
    filled: Filled

    def send(
        self, wanted: str, requests: Iterable[Request], at_once: int = 1, warm_up: int = WARM_UP
    ) -> Times:
        """Send requests, each once; the first ones to warm up."""
        return sent(
            Sending(
                port=self.portal.port,
                token=self.token,
                requests=list(requests),
                wanted=wanted,
                warm_up=warm_up,
                connections=at_once,
                server=self.portal.process.pid,
            )
        )

    def exchange(self, method: str, path: str, body: Any = None) -> Any:
        """One request and its answer, as JSON.

        Raises:
            RuntimeError: the answer is an error.
        """
        headers = {
            "authorization": f"Bearer {self.token}",
            "content-type": "application/json",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.portal.port, timeout=60)
        with closing(connection):
            said = None if body is None else json.dumps(body)
            connection.request(method, ask.PREFIX + path, said, headers)
            response = connection.getresponse()
            answer = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {answer[:300]!r}")
        return json.loads(answer)

    def fresh(self, number: int, after: int) -> Sequence[str]:
        """Texts that nothing was made of yet, and some to warm up."""
        return self.filled.unused[after : after + number + WARM_UP]


def measure() -> list[Row]:
    """Fill a portal, then ask it: each operation alone, then many at once."""
    sets = data_directory()
    token = secrets.token_urlsafe(16)
    owner = f"static:{hashlib.sha256(token.encode()).hexdigest()[:8]}"
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory)
        kept = asyncio.run(filled(ROOT / "content", data, sets, owner))
        rows = asyncio.run(_alone(data, kept))
        environment = {"PORCH_STATIC_TOKENS": f"members:{token}"}
        with spawned(ROOT / "content", data, LIMITS, environment) as portal:
            portal.await_ready()
            asked = Asked(portal, token, kept)
            return [*rows, *_latencies(asked), *_rates(asked), *_batches(asked), _streams(asked)]


async def _alone(data: Path, kept: Filled) -> list[Row]:
    """What everything stands on, without the API."""
    from gateway.config.portal_keys import Services
    from gateway.services import open_services

    with serving(["starlette"], tools=1) as served:
        peer = served["starlette"]
        constant = measured(Load(peer.port, "modern"), peer.pid)
    async with open_services(Services(), data) as services:
        reads, writes = await bare(
            services.for_plugin("knowledge").database, kept.ids[Layer.SEMANTIC][:ALONE]
        )
        model: Any = services.embedder
        await model.warm()
        texts = kept.unused[-ALONE:]
        questions = await _each(model.query, [question(text) for text in texts])
        passages = await _each(lambda text: model.passages([text]), texts)
        long = await _each(lambda text: model.passages([text]), ask.long(texts, ALONE // 4))
    return [
        _alone_row("a bare Starlette endpoint", constant.p50),
        _alone_row("SQLite: one row read", median(reads)),
        _alone_row("SQLite: one row written and committed", median(writes)),
        _alone_row("the model: a question", median(questions)),
        _alone_row("the model: an entry of 200 to 300 characters", median(passages)),
        _alone_row("the model: an entry of 256 tokens", median(long)),
    ]


async def _each(function: Callable[[str], Awaitable[Any]], texts: Iterable[str]) -> list[float]:
    """Milliseconds of one call for each text."""
    times = []
    for text in texts:
        begun = time.perf_counter()
        await function(text)
        times.append((time.perf_counter() - begun) * 1000)
    return times


def _alone_row(what: str, milliseconds: float) -> Row:
    return Row(SECTION, f"alone, {what}", milliseconds, "ms", note="p50, for comparison")


def _latencies(asked: Asked) -> list[Row]:
    """Each operation, one request after the other."""
    kept, number = asked.filled, CALLS + WARM_UP
    asked.send("entry", ask.pad(kept), warm_up=0)
    rows = []
    for layer, target in LAYERS.items():
        rows += _timed(target, asked.send("results", ask.queries(kept, [layer], number)))
    rows += _timed(ACROSS, asked.send("results", ask.queries(kept, list(Layer), number)))
    rows += _timed(CREATE, asked.send("entry", ask.creates(asked.fresh(CALLS, 0))))
    texts = asked.fresh(CALLS, 500)
    own = kept.ids[Layer.SESSION][:number]
    rows += _timed(UPDATE, asked.send("entry", ask.updates(own, texts)))
    return rows + _timed(DELETE, asked.send("deleted", ask.deletes(kept.ids[Layer.USER][:number])))


def _timed(target: Target, times: Times) -> list[Row]:
    cpu = f"{times.cpu / 1000:.1f} ms of processor a request"
    return [
        Row(
            SECTION,
            f"{target.what}, p{share}",
            times.at(share / 100),
            "ms",
            None if limit is None else Bar("at most", limit),
            "; ".join(filter(None, (cpu, target.note, LIFTED))) if share == 50 else "",
            headline=share == 50,
        )
        for share, limit in zip((50, 95, 99), target.limits, strict=True)
    ]


def _rates(asked: Asked) -> list[Row]:
    """Many requests at once."""
    kept = asked.filled
    mixed = asked.send("results", ask.in_turns(kept, QUERIES), AT_ONCE)
    whole = asked.send("results", ask.queries(kept, [], WHOLE), AT_ONCE)
    creates = asked.send("entry", ask.creates(asked.fresh(CREATES, 1_000)), AT_ONCE)
    texts = ask.long(asked.fresh(LONG, 2_000), LONG + WARM_UP)
    long = asked.send("entry", ask.creates(texts), AT_ONCE)
    return [
        _rate("queries, each layer in its turn", mixed, 100),
        _rate("queries that name no layer: all but the archive", whole),
        _rate("creates of 200 to 300 characters, embedded", creates, 50),
        _rate("creates of 256 tokens, embedded", long, 20),
    ]


def _rate(what: str, times: Times, least: float | None = None) -> Row:
    note = f"p50 {times.at(0.5):.1f} ms, {times.cpu / 1000:.1f} ms of processor each; {LIFTED}"
    bar = None if least is None else Bar("at least", least)
    return Row(SECTION, f"{what}, {AT_ONCE} at once", times.rate, "/s", bar, note, headline=True)


def _batches(asked: Asked) -> list[Row]:
    """Batches of creates, from the request until the results say that all is written."""
    kinds = {True: ("embedded", 1_000.0, 2_500), False: ("not embedded", 3_000.0, 3_000)}
    rows = []
    for embedded, (what, least, after) in kinds.items():
        body = ask.batch(asked.fresh(BATCH, after)[:BATCH], embedded=embedded)
        begun = time.perf_counter()
        id = asked.exchange("POST", "/batch", body)["operation_id"]
        while (found := asked.exchange("GET", f"/batch/{id}?limit=1"))["status"] != "completed":
            if found["status"] == "failed":
                raise RuntimeError(f"the batch failed: {found}")
            time.sleep(0.05)
        rate = BATCH / (time.perf_counter() - begun) * 60
        note = f"one of {BATCH}, until its results say completed; {LIFTED}"
        bar = Bar("at least", least)
        rows.append(
            Row(SECTION, f"batch of creates, {what}", rate, "/min", bar, note, headline=True)
        )
    return rows


def _streams(asked: Asked) -> Row:
    """Updates as fast as they can be written, told to all who follow."""
    path = f"{ask.PREFIX}/stream?type=updates"
    ids = asked.filled.ids[Layer.SESSION][CALLS + WARM_UP :][:UPDATES]
    written = ask.updates(ids, asked.filled.unused)
    with following(asked.portal.port, asked.token, path, CLIENTS, UPDATES) as followers:
        times = asked.send("entry", written, 4, warm_up=0)
        rate = followers.heard()
    return Row(
        SECTION,
        f"events told to {CLIENTS} clients of the stream",
        rate,
        "/s",
        Bar("at least", 1_000),
        f"{UPDATES} updates, {times.rate:.0f} written a second, each told to all; {LIFTED}",
        headline=True,
    )
