"""A portal with the garden that is stopped and started again on its port, under load."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from benchmarks.processes import free_port
from tests.journeys.test_serving import SERVER, request

CLIENTS, ENOUGH = 6, 100
_PATIENCE_SECONDS = 60.0


@dataclass
class Replica:
    """A portal in a process of its own."""

    place: Path
    port: int
    process: asyncio.subprocess.Process | None = None
    ready: bool = False
    server: str = SERVER

    @classmethod
    async def begun(cls, place: Path, settings: str = "", limits: str = "") -> Replica:
        """Start one, with further lines of ``portal.yaml``, and further limits."""
        replica = cls(place, free_port())
        replica.configure(settings, limits)
        await replica.start()
        return replica

    def configure(self, settings: str = "", limits: str = "") -> None:
        """Write its configuration."""
        config = self.place / "config"
        config.mkdir(parents=True)
        (config / "portal.yaml").write_text(
            f"listen: {{port: {self.port}}}\nservices: {{embedding: none}}\n"
            f"limits: {{calls: none, drain: 1s{limits}}}\n{settings}"
        )
        (config / "tiers.yaml").write_text("default: open\n")

    async def start(self) -> None:
        """Start it, again or for the first time, and wait until it listens."""
        assert int(await self.begin()) == self.port

    async def begin(self) -> bytes:
        """Start it; the first line that it prints."""
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", self.server, str(self.place)),
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        return await self.process.stdout.readline()

    async def stop(self) -> None:
        """End it as a supervisor does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(self.process.wait(), _PATIENCE_SECONDS) == 0

    async def kill(self) -> None:
        """End it, if it is there."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


@dataclass
class Load:
    """Clients that call a tool, one call after the other, and what came of it.

    Args:
        url: where they call.
        headers: what they send beside what MCP asks for.
        verify: whose certificate they believe.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    verify: ssl.SSLContext | bool = True
    answered: int = 0
    failed: list[str] = field(default_factory=list)

    async def on_rolling_restarts(
        self, replicas: Sequence[Replica], served: Callable[[Replica], bool]
    ) -> None:
        """Call while each replica is restarted, one after the other; wait until one is served."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(self._client(over))
            for replica in replicas:
                before = self.answered
                await replica.stop()
                assert self.answered > before, "calls went on while it stopped"
                await replica.start()
                await until(lambda replica=replica: served(replica))  # type: ignore[misc]
            enough = self.answered + ENOUGH
            await until(lambda: self.answered > enough or bool(self.failed))
            over.set()

    async def _client(self, over: asyncio.Event) -> None:
        async with httpx2.AsyncClient(timeout=_PATIENCE_SECONDS, verify=self.verify) as http:
            while not over.is_set():
                call = request("tools/call", name="look", arguments={"name": "north"})
                call["headers"] |= self.headers
                try:
                    answer = await http.post(self.url, **call)
                    assert "beans" in answer.text, f"{answer.status_code} {answer.text}"
                    self.answered += 1
                except (httpx2.HTTPError, AssertionError) as error:
                    self.failed.append(repr(error))
                await asyncio.sleep(0.01)


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
