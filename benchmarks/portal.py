"""A real portal over a knowledge base: ``porch serve``, asked over HTTP on loopback."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import random
import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.processes import ABOVE_LOAD, ROOT, free_port, launched

_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": _VERSION,
    "mcp-method": "tools/call",
    "mcp-name": "search_knowledge",
}
"""The headers of a search over MCP."""


def search_call(query: str) -> bytes:
    """The body of a search over MCP."""
    return tool_call("search_knowledge", {"query": query})


def tool_call(tool: str, arguments: Mapping[str, Any]) -> bytes:
    """The body of a call over MCP."""
    params = {"name": tool, "arguments": arguments, "_meta": _META}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(call).encode()


@dataclass(frozen=True, slots=True)
class Portal:
    """A portal that was just spawned.

    Attributes:
        port: where it listens, or soon will.
        process: its process.
        spawned: when it was spawned, by ``time.perf_counter``.
    """

    port: int
    process: Popen[bytes]
    spawned: float

    def search(self, query: str) -> dict[str, Any]:
        """What ``search_knowledge`` answers.

        Raises:
            OSError: the portal does not listen yet.
            RuntimeError: it answers with an error.
        """
        found = self.call("search_knowledge", {"query": query})
        if found is None:
            raise RuntimeError(f"{query!r} is answered with an error.")
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a tool answers, or None where it answers with an error.

        Raises:
            OSError: the portal does not listen yet.
            RuntimeError: no tool answers.
        """
        status, body = self._exchange("POST", "/mcp", tool_call(tool, arguments), tool)
        # What takes long is answered as a stream, whose last event is the result.
        last = body.rpartition(b"data: ")[2] if body.startswith((b"event", b"data", b":")) else body
        result = json.loads(last).get("result")
        if status != 200 or result is None:
            raise RuntimeError(f"{tool}: {status} {body[:300]!r}")
        return None if result.get("isError") else result["structuredContent"]

    def health(self) -> dict[str, Any]:
        """What ``/readyz`` says in full."""
        details: dict[str, Any] = json.loads(self._exchange("GET", "/readyz")[1])
        return details

    def await_ready(self, seconds: float = 600) -> None:
        """Wait until everything asked for is indexed; raises ``TimeoutError``."""
        while not self._ready():
            if time.perf_counter() - self.spawned > seconds:
                raise TimeoutError(f"the portal is not ready after {seconds:g} s")
            self.still_running()
            time.sleep(0.1)

    def still_running(self) -> None:
        """Raise ``RuntimeError`` where the process has ended."""
        if self.process.poll() is not None:
            raise RuntimeError(f"porch serve ended with {self.process.returncode}")

    def _ready(self) -> bool:
        try:
            return self._exchange("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def deliver(self, plugin: str, push: Mapping[str, Any], secret: str) -> None:
        """Tell a plugin of a push, as GitHub does.

        Raises:
            RuntimeError: the delivery is not taken.
        """
        body = json.dumps(push).encode()
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "content-type": "application/json",
            "x-github-event": "push",
            "x-github-delivery": f"{random.getrandbits(128):x}",
            "x-hub-signature-256": f"sha256={signature}",
        }
        status, answer = self._sent("POST", f"/hooks/{plugin}/github", body, headers)
        if status != 200 or not json.loads(answer).get("jobs"):
            raise RuntimeError(f"the delivery was not taken: {status} {answer[:300]!r}")

    def _exchange(
        self, method: str, path: str, body: bytes | None = None, tool: str = ""
    ) -> tuple[int, bytes]:
        return self._sent(method, path, body, {**HEADERS, "mcp-name": tool} if body else {})

    def _sent(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


@contextmanager
def spawned(
    content: Path,
    data: Path,
    limits: Mapping[str, Any] = ABOVE_LOAD,
    environment: Mapping[str, str] | None = None,
) -> Generator[Portal]:
    """Run ``porch serve`` on a directory of notes while the block lasts.

    Args:
        content: the notes.
        data: its data directory.
        limits: what ``portal.yaml`` says of ``limits``.
        environment: variables beside those of this process.
    """
    with TemporaryDirectory() as place:
        config = Path(place, "config")
        shutil.copytree(ROOT / "config", config)
        with (config / "portal.yaml").open("a") as portal:
            portal.write(f"\nlimits: {json.dumps(limits)}\n")
        where = ("--content", str(content), "--config", str(config), "--data", str(data))
        yield from _serving(where, environment)


@contextmanager
def configured(
    root: Path,
    settings: Mapping[str, Any],
    environment: Mapping[str, str],
    program: str = "gateway.cli",
) -> Generator[Portal]:
    """Run ``porch serve`` with a ``portal.yaml`` of its own while the block lasts.

    Args:
        root: where its configuration and its data are kept.
        settings: what ``portal.yaml`` says.
        environment: variables beside those of this process.
        program: the module that is ``porch``.
    """
    config = root / "config"
    shutil.copytree(ROOT / "config", config)
    (config / "portal.yaml").write_text(json.dumps({"limits": ABOVE_LOAD, **settings}))
    where = ("--config", str(config), "--data", str(root / "data"))
    yield from _serving(where, environment, program)


def _serving(
    where: Sequence[str], environment: Mapping[str, str] | None, program: str = "gateway.cli"
) -> Generator[Portal]:
    port = free_port()
    begun = time.perf_counter()
    with launched(["-m", program, "serve", "--port", str(port), *where], environment) as process:
        yield Portal(port, process, begun)
