"""The benchmark of the playbook counts right answers only, and judges the embedded default."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.load import Figures
from benchmarks.playbook import WORKFLOWS, configure, mixed, pages
from benchmarks.tool_client import NUMBER, Asked, answer, run
from benchmarks.workflows import Kind, compared, workflow
from gateway.config.portal import load_portal

KIND = Kind("search", Asked(1, "search", [{}], "results"), 5.0)


def figures(rate: float, p50: float) -> list[Figures]:
    return [Figures(rate, p50, 9.0, 100.0)]


@pytest.mark.parametrize(
    ("kind", "database", "at_once", "verdict"),
    [
        (KIND, "SQLite", 1, "missed"),
        (KIND, "SQLite", 16, ""),
        (KIND, "PostgreSQL", 1, ""),
        (Kind("add", KIND.asked), "SQLite", 1, ""),
    ],
)
def test_the_bar_is_about_one_caller_of_the_embedded_default(
    kind: Kind, database: str, at_once: int, verdict: str
) -> None:
    found = {"porch": figures(500.0, 5.1), "bare": figures(1000.0, 1.0)}
    p50, rate = compared(kind, database, at_once, found)
    assert (p50.value, p50.verdict) == (5.1, verdict)
    assert (rate.value, rate.verdict) == (500.0, "")
    assert "0.50 of the constant's" in rate.note
    assert database in p50.what


def test_a_long_workflow_has_as_many_steps_as_are_asked_for() -> None:
    made = workflow("Long", 50)
    assert [len(stage["prompts"]) for stage in made["stages"]] == [10] * 5


@asynccontextmanager
async def server(body: dict[str, Any], callers: int = 1) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """A server that gives so many callers this answer until they go; and what it was sent."""
    sent: list[bytes] = []
    given, gone = json.dumps(body).encode(), asyncio.Semaphore(0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.rpartition(b"content-length: ")[2])
                sent.append(await reader.readexactly(length))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(given))
                writer.write(given)
        writer.close()
        gone.release()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1], sent
        for _ in range(callers):
            await gone.acquire()
    finally:
        listening.close()


def result(value: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "result": {"structuredContent": value, **more}}


async def test_calls_are_timed_in_rounds_and_numbered() -> None:
    async with server(result({"results": [1]}), 2) as (port, sent):
        given = [{"name": f"One {NUMBER}"}, {"name": "two"}]
        asked = Asked(port, "search", given, "results", connections=2, seconds=0.01)
        found = await run({"porch": asked}, 3)
    assert len(found["porch"]) == 3
    assert all(rate > 0 and p50 <= p99 for rate, p50, p99, _ in found["porch"])
    names = {json.loads(body)["params"]["arguments"]["name"] for body in sent}
    assert "two" in names
    assert len(names) > 10
    assert all(name == "two" or name.split()[1].isdigit() for name in names)


@pytest.mark.parametrize(
    "wrong",
    [
        result({"results": []}),
        result({"results": [1]}, isError=True),
        {"id": 1, "error": {"code": -32603}},
    ],
)
async def test_a_wrong_answer_is_refused(wrong: dict[str, Any]) -> None:
    async with server(wrong) as (port, _):
        with pytest.raises(ValueError, match="wrong answer"):
            await answer(Asked(port, "search", [{}], "results"))


def test_made_up_vectors_have_length_one_and_are_all_different() -> None:
    real = np.eye(3, 16, dtype=np.float32)
    made = mixed(real, 50)
    assert made.shape == (50, 16)
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert len({vector.tobytes() for vector in made}) == 50
    assert (made[:3] == real).all()


def test_workflows_are_named_after_real_pages(test_data: Path) -> None:
    named = pages(test_data)
    assert len({name for name, _ in named}) == WORKFLOWS
    assert all(0 < len(about) <= 300 for _, about in named)


def test_a_portal_is_configured_with_the_database_it_is_given(tmp_path: Path) -> None:
    configure(tmp_path, "postgresql://example/none", "none")
    config = load_portal(tmp_path / "config").config
    assert config.services.database == "postgresql://example/none"
    assert config.services.embedding == "none"
