"""What a model call costs the portal beyond the provider's own time.

The provider is a stand-in on loopback, in a process of its own and on another core. The same
request is sent by a bare HTTP client, and asked for through ``host.models`` with metering,
scrubbing and validation on; rounds are interleaved, and the bar is on the difference of their
medians.

``python -m benchmarks.model_calls PORT`` serves the provider on 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from pydantic import BaseModel

from benchmarks.processes import CLIENT_CORE, free_port, running
from benchmarks.table import Bar, Row

SECTION = "model_calls"
BAR_MS = 2.0
ROUNDS, CALLS = 10, 50


class Purpose(BaseModel):
    """Why a function exists."""

    reason: str
    certain: bool


def measure() -> list[Row]:
    """The median of both ways, and their difference."""
    port = free_port()
    with running(["-m", "benchmarks.model_calls", str(port)], port, core=CLIENT_CORE):
        bare, asked, busy = asyncio.run(_rounds(f"http://127.0.0.1:{port}/v1"))
    beyond = statistics.median(
        statistics.median(ours) - statistics.median(theirs)
        for ours, theirs in zip(asked, bare, strict=True)
    )
    note = f"{ROUNDS} rounds of {CALLS} calls; processor time of a call {busy:.2f} ms"
    return [
        Row(SECTION, "one answer by a bare HTTP client", _median(bare), "ms"),
        Row(SECTION, "one answer by host.models", _median(asked), "ms"),
        Row(
            SECTION,
            "what the portal adds to the provider's time",
            beyond,
            "ms",
            Bar("under", BAR_MS),
            note,
            headline=True,
        ),
    ]


def _median(rounds: list[list[float]]) -> float:
    return statistics.median(each for some in rounds for each in some)


async def _rounds(url: str) -> tuple[list[list[float]], list[list[float]], float]:
    """Milliseconds of each call, round by round, and the processor's of a call of ours."""
    from gateway.config.language_models import LanguageModels
    from gateway.observability.audit import MIGRATIONS
    from gateway.services.database.service import open_database
    from gateway.services.models.service import ModelService

    section = LanguageModels.model_validate(
        {"providers": {"it": {"kind": "compatible", "url": url}}, "simple": "it/m"}
    )
    with TemporaryDirectory() as folder:
        database = open_database("sqlite", Path(folder))
        await database.for_owner("gateway").migrate(MIGRATIONS)
        service = ModelService(section, database.for_owner("gateway"))
        models = service.for_owner("bench")

        async def ours() -> None:
            await models.generate(Purpose, "def f(): ...", "simple", caller=None, operation="bench")

        async with httpx2.AsyncClient() as client:
            body = _body()

            async def theirs() -> None:
                answer = await client.post(f"{url}/chat/completions", json=body)
                Purpose.model_validate_json(
                    answer.json()["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
                )

            await _timed(ours), await _timed(theirs)
            bare, asked, busy = list[list[float]](), list[list[float]](), 0.0
            for _ in range(ROUNDS):
                bare.append(await _timed(theirs))
                began = time.process_time()
                asked.append(await _timed(ours))
                busy += time.process_time() - began
        await service.close()
        await database.close()
    return bare, asked, busy * 1000 / (ROUNDS * CALLS)


async def _timed(call: Callable[[], Awaitable[None]]) -> list[float]:
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1000)
    return took


def _body() -> dict[str, Any]:
    """The request that the portal sends, without the portal."""
    function = {"name": "answer", "parameters": Purpose.model_json_schema()}
    return {
        "model": "m",
        "messages": [{"role": "user", "content": "def f(): ..."}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
    }


def _serve(port: int) -> None:
    """Serve the stand-in until the process ends."""
    import threading

    from tests.servers.openai_compatible import OpenAICompatible

    with OpenAICompatible().served(port):
        threading.Event().wait()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
