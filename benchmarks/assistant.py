"""What the assistant adds to a model's first word, and 100 conversations at once on one process.

The model is a stand-in on loopback, in a process of its own. Rounds are interleaved: the same
question is streamed from the model by a bare HTTP client, and asked of the portal over its REST
interface as an event stream; the bar is on the difference of the medians until the first word.

``python -m benchmarks.assistant PORT`` serves the model on 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from benchmarks.processes import CLIENT_CORE, free_port, running
from benchmarks.table import Bar, Row

SECTION = "assistant"
BAR_MS = 100.0
ROUNDS, AT_ONCE = 15, 100
WORDS = 40
PAUSE_SECONDS = 0.02
"""Between two words of the model."""
CHAT = "/api/v1/assistant/conversations"
_QUESTION = "How are decisions made?"

First = tuple[float, float]
"""Milliseconds until the first word of an answer, and until its end."""


def measure() -> list[Row]:
    """The first word by both ways, and many conversations at once."""
    port = free_port()
    with running(["-m", "benchmarks.assistant", str(port)], port, core=CLIENT_CORE):
        bare, ours, crowd, busy = asyncio.run(_rounds(f"http://127.0.0.1:{port}/v1"))
    theirs, mine = _median(bare), _median(ours)
    firsts, ends = [first for first, _ in crowd], [end for _, end in crowd]
    model = WORDS * PAUSE_SECONDS * 1000
    return [
        Row(SECTION, "the model's first word, by a bare HTTP client", theirs, "ms"),
        Row(
            SECTION,
            "the assistant's first word beyond the model's",
            mine - theirs,
            "ms",
            Bar("under", BAR_MS),
            f"{ROUNDS} rounds; the portal's whole first word takes {mine:.0f} ms",
        ),
        Row(
            SECTION,
            f"answers that ended, of {AT_ONCE} conversations at once on one process",
            float(len(crowd)),
            "",
            Bar("at least", float(AT_ONCE)),
            f"the median ends after {statistics.median(ends):.0f} ms, the last one after "
            f"{max(ends):.0f} ms; the model alone takes {model:.0f} ms",
        ),
        Row(SECTION, f"first word among {AT_ONCE} at once, median", _median(crowd), "ms"),
        Row(
            SECTION,
            f"first word among {AT_ONCE} at once, the last one",
            max(firsts),
            "ms",
            note=f"processor time of an answer {busy:.0f} ms, with its client in the same process",
        ),
    ]


def _median(found: list[First]) -> float:
    return statistics.median(first for first, _ in found)


async def _rounds(url: str) -> tuple[list[First], list[First], list[First], float]:
    """Answers of the model, of the portal, and of many at once; and the processor's ms of one."""
    async with _portal(url) as portal, httpx2.AsyncClient(timeout=120) as client:
        body = _body()

        async def bare() -> First:
            sent = client.stream("POST", f"{url}/chat/completions", json=body)
            return await _timed(sent, '"content": "w')

        async def ours(who: str) -> First:
            headers = {"accept": "text/event-stream"}
            given = {"message": _QUESTION}
            sent = portal(who).stream("POST", CHAT, json=given, headers=headers)
            return await _timed(sent, '"text-delta"')

        await bare()
        await ours("p0")
        theirs, mine = list[First](), list[First]()
        for number in range(ROUNDS):
            theirs.append(await bare())
            mine.append(await ours(f"p{number}"))
        asked = (ours(f"p{number}") for number in range(AT_ONCE))
        began = time.process_time()
        crowd = await asyncio.gather(*asked, return_exceptions=True)
        busy = (time.process_time() - began) * 1000 / AT_ONCE
    return theirs, mine, [each for each in crowd if isinstance(each, tuple)], busy


async def _timed(sent: Any, word: str) -> First:
    """How long it takes until a word is there, and until the end.

    Raises:
        ValueError: the answer ends without.
    """
    began, first, seen = time.perf_counter(), 0.0, ""
    async with sent as answer:
        async for piece in answer.aiter_text():
            if not first:
                seen += piece
                if word in seen:
                    first = (time.perf_counter() - began) * 1000
    if not first:
        raise ValueError(f"no word in {seen[:500]!r}")
    return first, (time.perf_counter() - began) * 1000


@asynccontextmanager
async def _portal(url: str) -> AsyncGenerator[Callable[[str], httpx2.AsyncClient]]:
    """A portal that listens on loopback, with people who have signed in; gives their clients."""
    from gateway.testing import open_test_portal
    from tests.servers.streaming import over_network

    provider = {"kind": "compatible", "url": url, "concurrency": AT_ONCE}
    models = {"providers": {"it": provider}, "chat": "it/m"}
    async with open_test_portal(config={"services": {"models": models}}) as portal:
        await portal.running.assistant.ready()
        for number in range(AT_ONCE):
            await portal.sign_in(f"p{number}")
        async with over_network(portal) as served:
            clients = {
                f"p{n}": httpx2.AsyncClient(
                    base_url=f"http://{served.address}",
                    headers=served.headers(f"p{n}"),
                    timeout=120,
                )
                for n in range(AT_ONCE)
            }
            try:
                yield clients.__getitem__
            finally:
                for each in clients.values():
                    await each.aclose()


def _body() -> dict[str, Any]:
    return {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": _QUESTION}],
    }


def _serve(port: int) -> None:
    """Serve the stand-in until the process ends."""
    import threading

    from tests.servers.openai_compatible import OpenAICompatible, Reply

    text = " ".join(f"w{number}" for number in range(WORDS))
    server = OpenAICompatible().rule(lambda body: Reply(text=text, pause_s=PAUSE_SECONDS))
    with server.served(port):
        threading.Event().wait()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
