"""A real portal over a knowledge base: ``porch serve``, asked over HTTP on loopback."""

from __future__ import annotations

import http.client
import json
import shutil
import time
from collections.abc import Generator, Mapping
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
    params = {"name": "search_knowledge", "arguments": {"query": query}, "_meta": _META}
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
        status, body = self._exchange("POST", "/mcp", search_call(query))
        result = json.loads(body).get("result", {})
        if status != 200 or "structuredContent" not in result:
            raise RuntimeError(f"{query!r}: {status} {body[:300]!r}")
        found: dict[str, Any] = result["structuredContent"]
        return found

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

    def _exchange(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, HEADERS if body else {})
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
        yield from _serving(content, config, data, environment)


def _serving(
    content: Path, config: Path, data: Path, environment: Mapping[str, str] | None
) -> Generator[Portal]:
    port = free_port()
    where = ("--content", str(content), "--config", str(config), "--data", str(data))
    begun = time.perf_counter()
    command = ["-m", "gateway.cli", "serve", "--port", str(port), *where]
    with launched(command, environment) as process:
        yield Portal(port, process, begun)
