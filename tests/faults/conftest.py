"""A portal in a process of its own that faults can be done to."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.servers import forked

TOKEN = "members-token-of-the-fault-tests"
MEMBER = {"authorization": f"Bearer {TOKEN}"}
TIERS = """
default: members
items:
  knowledge: open
  knowledge/get_document: members
"""
PLUGINS = """
plugins:
  knowledge: {sources: [{directory: ./content}]}
  workflows: {starter: false}"""
PAGE = """---
title: {title}
type: pattern
publish: true
date: 2026-01-02
---

# {title}

{title} is a page about gardens that neighbours share.
"""
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PATIENCE = 150.0


def eventually(true: Callable[[], Any], what: str) -> Any:
    """Ask until the answer is true, within a deadline."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)
    return found


class Place:
    """A directory with ``config``, ``content`` and ``data``, and the portals that run on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.content = root / "content"
        self.data = root / "data"
        self.running: list[Portal] = []
        (root / "config").mkdir()
        self.content.mkdir()
        self.configure("services: {embedding: none}")
        (root / "config" / "tiers.yaml").write_text(TIERS)

    def configure(self, text: str) -> None:
        """Write ``portal.yaml``; knowledge reads ``content`` and nobody is limited, by default."""
        if "plugins:" not in text:
            text += PLUGINS
        if "limits:" not in text:
            text += "\nlimits: {calls: none}"
        (self.root / "config" / "portal.yaml").write_text(text)

    def page(self, name: str, title: str, text: str = "") -> None:
        """Write a note."""
        path = self.content / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(title=title) + text)

    def serve(self, *words: str, **environment: str) -> Portal:
        """Start a portal; it may not be listening yet."""
        portal = Portal(self.root, words, environment)
        self.running.append(portal)
        return portal

    def porch(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return forked.run(words, self.root, _environment(environment), PATIENCE)


class Portal:
    """One ``porch serve``."""

    def __init__(self, root: Path, words: tuple[str, ...], environment: dict[str, str]) -> None:
        self._printed = root / f"printed-{time.monotonic_ns()}"
        # A portal with a public address does not print where it listens.
        port = dict(pairwise(words)).get("--port")
        self._url = f"http://127.0.0.1:{port}" if port else ""
        self._printed.touch()
        self.process = forked.Forked(
            ("serve", "--port", "0", *words),
            root,
            _environment({"PORCH_STATIC_TOKENS": f"members:{TOKEN}", **environment}),
            self._printed,
        )

    @property
    def printed(self) -> str:
        """What it wrote so far: its words to the admin and its log."""
        return self._printed.read_text()

    @property
    def url(self) -> str:
        """Where it listens, once it does."""
        if not self._url:
            line = eventually(self._listening, "the portal listens")
            self._url = line.split()[-1].removesuffix("/mcp")
        return self._url

    def _listening(self) -> str:
        assert self.process.poll() is None, self.printed
        lines = (line for line in self.printed.splitlines() if "Paste into" in line)
        return next(lines, "")

    def health(self) -> dict[str, Any]:
        """What ``/readyz`` says in full."""
        details: dict[str, Any] = httpx2.get(f"{self.url}/readyz", timeout=60).json()
        return details

    def ready(self) -> Portal:
        """Wait until it is ready."""
        health: dict[str, Any] = {}

        def is_ready() -> bool:
            nonlocal health
            health = self.health()
            return bool(health["status"] == "ok")

        try:
            eventually(is_ready, "the portal is ready")
        except AssertionError as vain:
            raise AssertionError(f"{vain}\n{health}\n{self.printed}") from None
        return self

    def get(self, path: str, **options: Any) -> httpx2.Response:
        """Send a GET request."""
        return httpx2.get(f"{self.url}{path}", timeout=60, **options)

    def call(self, tool: str, arguments: dict[str, Any]) -> httpx2.Response:
        """Call a tool as a member, in the modern era."""
        return self.post(modern("tools/call", name=tool, arguments=arguments))

    def post(self, request: dict[str, Any]) -> httpx2.Response:
        """Send a request made by :func:`modern`."""
        return httpx2.post(f"{self.url}/mcp", timeout=60, **request)

    def search(self, query: str, **filters: Any) -> list[dict[str, Any]]:
        """The results of a search."""
        arguments = {"query": query, **({"filters": filters} if filters else {})}
        answer = self.call("search_knowledge", arguments).json()
        results: list[dict[str, Any]] = answer["result"]["structuredContent"]["results"]
        return results

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE)

    def stop(self) -> int:
        """Ask it to stop, and wait: its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE)


def modern(method: str, **params: Any) -> dict[str, Any]:
    """A request of 2026-07-28 as a member sends it: headers and body, for an HTTP client."""
    version = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = JSON | MEMBER | {"mcp-protocol-version": version, "mcp-method": method}
    if name := params.get("name", params.get("uri")):
        headers["mcp-name"] = name
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    return {"headers": headers, "json": body}


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place; every portal that still runs on it at the end is ended."""
    place = Place(tmp_path)
    try:
        yield place
    finally:
        for portal in place.running:
            portal.process.kill()
            portal.process.wait()
