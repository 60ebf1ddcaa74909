"""Two processes, with PostgreSQL, Redis and a bucket between them, answer as one portal."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import run
from typing import Any

import httpx2
import pytest

from benchmarks.processes import await_port, free_port, launched
from tests.mcp_messages import INITIALIZE_PARAMS
from tests.servers import readiness

pytestmark = pytest.mark.heavy

PORTAL = """
services:
  database: env:REPLICAS_DATABASE
  cache: env:REPLICAS_CACHE
  objects: {objects}
  embedding: none
plugins: {{knowledge: {{sources: [{{directory: ./content}}]}}}}
limits: {{calls: none}}
"""
NOTE = "---\ntype: pattern\ntitle: {title}\ndate: 2026-01-02\npublish: true\n---\n{body}\n"
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}
SEARCH: dict[str, Any] = {"name": "search_knowledge", "arguments": {"query": "funding"}}
PATIENCE = 60.0


@dataclass(frozen=True)
class Replica:
    """One of the processes."""

    root: Path
    data: Path
    port: int

    def post(self, method: str, session: str = "", **params: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = HEADERS | ({"mcp-session-id": session} if session else {})
        return httpx2.post(self.url("/mcp"), json=message, headers=headers, timeout=60)

    def ready(self) -> bool:
        return readiness.is_ready(self.url(""))

    def session(self) -> str:
        id: str = self.post("initialize", **INITIALIZE_PARAMS).headers["mcp-session-id"]
        return id

    def tools(self) -> list[str]:
        answer = self.post("tools/list", self.session()).json()
        return [tool["name"] for tool in answer["result"]["tools"]]

    @contextmanager
    def listening(self) -> Iterator[Iterator[str]]:
        headers = HEADERS | {"accept": "text/event-stream", "mcp-session-id": self.session()}
        with httpx2.stream("GET", self.url("/mcp"), headers=headers, timeout=PATIENCE) as stream:
            yield stream.iter_lines()

    def found(self, query: str) -> list[str]:
        answer = httpx2.get(self.url("/api/v1/search"), params={"q": query}, timeout=60)
        return [result["title"] for result in answer.json()["results"]]

    def audit(self) -> list[dict[str, Any]]:
        porch = [sys.executable, "-m", "gateway.cli", "audit", "--json"]
        where = ["--config", str(self.root / "config"), "--data", str(self.data)]
        done = run([*porch, *where], capture_output=True, text=True, check=True)
        calls: list[dict[str, Any]] = json.loads(done.stdout)
        return calls

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


def eventually(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


def lacks(replica: Replica, tool: str) -> bool:
    return tool not in replica.tools()


def finds(replica: Replica, query: str, titles: list[str]) -> bool:
    return replica.found(query) == titles


def recorded(replica: Replica, calls: set[str]) -> bool:
    return calls <= {call["request_id"] for call in replica.audit()}


def note(root: Path, name: str, title: str, body: str = "A page.") -> None:
    (root / "content" / f"{name}.md").write_text(NOTE.format(title=title, body=body))


@pytest.fixture
def replicas(
    postgres: str, redis_url: str, s3_bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Replica, Replica]]:
    """Two processes, started in the same moment on empty services."""
    (tmp_path / "config").mkdir()
    (tmp_path / "content").mkdir()
    (tmp_path / "config" / "portal.yaml").write_text(PORTAL.format(objects=s3_bucket))
    (tmp_path / "config" / "tiers.yaml").write_text("items: {knowledge: open}\n")
    note(tmp_path, "cells", "Cell governance")
    monkeypatch.setenv("REPLICAS_DATABASE", postgres)
    monkeypatch.setenv("REPLICAS_CACHE", redis_url)
    monkeypatch.setenv("PORCH_SIGNING_KEY", uuid.uuid4().hex)
    both = [Replica(tmp_path, tmp_path / name, free_port()) for name in ("first", "second")]
    with ExitStack() as stack:
        for one in both:
            where = ["--config", str(tmp_path / "config"), "--data", str(one.data)]
            serve = ["-m", "gateway.cli", "serve", "--port", str(one.port), *where]
            await_port(stack.enter_context(launched(serve)), one.port)
        for one in both:
            eventually(one.ready, "it is ready")
        yield both[0], both[1]


async def test_two_processes_answer_as_one_portal(replicas: tuple[Replica, Replica]) -> None:
    checks: list[Callable[..., None]] = [check_sessions, check_news, check_content, check_audit]
    for check in checks:
        await asyncio.to_thread(check, *replicas)


def check_sessions(first: Replica, second: Replica) -> None:
    kept, ended = first.session(), first.session()
    assert second.post("tools/list", kept).json()["result"]["tools"]
    assert httpx2.delete(first.url("/mcp"), headers={"mcp-session-id": ended}).is_success
    for replica in (first, second):
        assert replica.post("ping", ended).status_code == 404
        assert replica.post("ping", kept).status_code == 200


def check_news(*replicas: Replica) -> None:
    """A new tiers.yaml is in force everywhere, and clients of every replica hear of it."""
    with ExitStack() as stack:
        streams = [stack.enter_context(replica.listening()) for replica in replicas]
        tiers = replicas[0].root / "config" / "tiers.yaml"
        tiers.write_text(
            "items: {knowledge: open, knowledge/list_groups: {tier: members, hidden: true}}\n"
        )
        for stream in streams:
            assert any("notifications/tools/list_changed" in line for line in stream)
    for replica in replicas:
        eventually(partial(lacks, replica, "list_groups"), "the tool is hidden")


def check_content(*replicas: Replica) -> None:
    """A page is found everywhere, and a page that is gone nowhere."""
    root = replicas[0].root
    note(root, "seasons", "Funding seasons")
    (root / "content" / "cells.md").unlink()
    for replica in replicas:
        eventually(partial(finds, replica, "funding seasons", ["Funding seasons"]), "it is found")
        eventually(partial(finds, replica, "cell governance", []), "it is gone")
        page = httpx2.get(replica.url("/api/v1/entries/pattern/seasons"))
        assert page.json()["metadata"]["title"] == "Funding seasons"


def check_audit(*replicas: Replica) -> None:
    """What one replica answered, the other's record shows too."""
    answers = [replica.post("tools/call", replica.session(), **SEARCH) for replica in replicas]
    calls = {answer.headers["x-request-id"] for answer in answers}
    for replica in replicas:
        eventually(partial(recorded, replica, calls), "all calls are recorded")
