"""Spans of a whole call, of a job and of what goes out; and none where nobody sees them."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from gateway.contract import Job, Offer, Plugin, Tier, Tool, hookimpl
from gateway.contract.jobs import JobRun
from gateway.observability import telemetry
from gateway.observability.outgoing_requests import trace_requests
from gateway.testing import open_test_portal
from gateway.toolkit import spans as module
from tests.gateway.services.jobs.test_service import reached

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"


class Elsewhere(BaseHTTPRequestHandler):
    """A service on loopback that notes the context that comes with a request."""

    heard: list[str | None]

    def do_GET(self) -> None:
        Elsewhere.heard.append(self.headers.get("traceparent"))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def elsewhere() -> Iterator[str]:
    Elsewhere.heard = []
    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/private?q=words"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    provider = TracerProvider()
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("porch")
    monkeypatch.setattr(telemetry, "_tracer", tracer)
    monkeypatch.setattr(module, "_tracer", tracer)
    trace_requests()
    yield exporter
    provider.shutdown()


async def ask(url: str) -> str:
    """Ask elsewhere, and the database.

    Args:
        url: where.
    """
    async with httpx2.AsyncClient(timeout=60) as http:
        await http.get(url)
    async with Garden.host.database.read() as connection:
        await connection.execute(text("SELECT 'a private word' FROM porch_audit"))
    return "asked"


async def stumble() -> str:
    """Ask the database for what it does not have."""
    async with Garden.host.database.read() as connection:
        try:
            await connection.execute(text("SELECT private FROM nowhere"))
        except DBAPIError:
            return "stumbled"
    return "not reached"


async def grow(run: JobRun, payload: Mapping[str, Any]) -> str:
    return str(await run.step("water", water))


async def water() -> str:
    return "wet"


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    Garden.host = host
    tools = [Tool.of(ask, tier=Tier.OPEN), Tool.of(stumble, tier=Tier.OPEN)]
    yield Offer(tools=tools, jobs=[Job("grow", grow)])


class Garden:
    __name__ = "garden"
    host: Any = None

    @staticmethod
    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin(name="garden", summary="A garden.", open=_open)


def of(exporter: InMemorySpanExporter, trace: str = TRACE) -> dict[str, ReadableSpan]:
    """The spans of a trace, by name."""
    found = exporter.get_finished_spans()
    return {each.name: each for each in found if f"{_context(each).trace_id:032x}" == trace}


def _context(span: ReadableSpan) -> Any:
    assert span.context is not None
    return span.context


async def test_a_call_has_a_span_for_each_thing_that_it_waits_for(
    recorded: InMemorySpanExporter, elsewhere: str
) -> None:
    async with open_test_portal(Garden) as portal:
        headers = {"traceparent": TRACEPARENT}
        assert (await portal.call("ask", {"url": elsewhere}, headers=headers)).text == "asked"
    found = of(recorded)
    call = found.pop("tools/call ask")
    assert set(found) == {
        "identity",
        "scrub arguments",
        "scrub answer",
        "GET",
        "SELECT porch_audit",
    }
    for name, each in found.items():
        assert each.parent is not None, name
        assert each.parent.span_id == _context(call).span_id, name
        times = [
            time or 0 for time in (call.start_time, each.start_time, each.end_time, call.end_time)
        ]
        assert times == sorted(times), name
        assert times[0] > 0, name
    sent = found["GET"]
    assert Elsewhere.heard == [f"00-{TRACE}-{_context(sent).span_id:016x}-01"]
    assert dict(sent.attributes or {}) == {
        "http.request.method": "GET",
        "server.address": "127.0.0.1",
        "http.response.status_code": 204,
    }
    assert not [each for each in found.values() if "private" in each.to_json()]


async def test_a_statement_that_fails_is_an_error_without_its_words(
    recorded: InMemorySpanExporter,
) -> None:
    async with open_test_portal(Garden) as portal:
        headers = {"traceparent": TRACEPARENT}
        assert (await portal.call("stumble", headers=headers)).text == "stumbled"
    failed = of(recorded)["SELECT nowhere"]
    assert not failed.status.is_ok
    assert (failed.attributes or {})["error.type"] == "OperationalError"
    assert "private" not in failed.to_json()


async def test_a_job_is_a_trace_of_its_own_with_its_steps(recorded: InMemorySpanExporter) -> None:
    async with open_test_portal(Garden):
        jobs = Garden.host.jobs
        await reached(jobs, await jobs.enqueue("grow", {}), "done")
    found = {each.name: each for each in recorded.get_finished_spans()}
    job, step = found["job garden/grow"], found["step water"]
    assert job.parent is None
    assert step.parent is not None
    assert step.parent.span_id == _context(job).span_id


async def test_where_no_call_is_traced_no_span_is_made(recorded: InMemorySpanExporter) -> None:
    async with open_test_portal(Garden):
        async with Garden.host.database.read() as connection:
            await connection.execute(text("SELECT 1"))
        with module.span("alone") as made:
            assert made is None
    assert recorded.get_finished_spans() == ()


async def test_where_nobody_sees_spans_nothing_is_made_or_sent(elsewhere: str) -> None:
    trace_requests()
    assert not module.is_recording()
    assert module.span("one") is module.span("other", root=True)
    assert module.before_call("identity") is module.span("one")
    async with open_test_portal(Garden) as portal:
        headers = {"traceparent": TRACEPARENT}
        assert (await portal.call("ask", {"url": elsewhere}, headers=headers)).text == "asked"
    assert Elsewhere.heard == [None]


def test_what_raises_in_a_span_is_named_by_its_kind_alone(recorded: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="secret"), module.span("dig", root=True):
        raise ValueError("a secret")
    (found,) = recorded.get_finished_spans()
    assert dict(found.attributes or {}) == {"error.type": "ValueError"}
    assert "secret" not in found.to_json()


async def test_a_search_shows_its_embedding_and_a_sync_is_a_trace_of_its_own(
    recorded: InMemorySpanExporter, tmp_path: Path
) -> None:
    (tmp_path / "garden.md").write_text("---\ntitle: Garden\npublish: true\n---\n\nSoil and rain.")
    config = {
        "services": {"embedding": "embedded"},
        "plugins": {"knowledge": {"sources": [{"directory": str(tmp_path)}]}},
    }
    async with open_test_portal(config=config) as portal:
        sync = {each.name: each for each in recorded.get_finished_spans()}["sync knowledge"]
        assert sync.parent is None
        headers = {"traceparent": TRACEPARENT}
        await portal.call("search_knowledge", {"query": "a private word"}, headers=headers)
    found = of(recorded)
    assert {"tools/call search_knowledge", "embed query", "search vectors"} <= set(found)
    assert not [each for each in found.values() if "private" in each.to_json()]
