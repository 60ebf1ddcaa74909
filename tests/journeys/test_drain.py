"""Two replicas are restarted one after the other under load, and no call is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from benchmarks.processes import free_port
from tests.journeys.test_serving import SERVER, request

pytestmark = pytest.mark.heavy

CLIENTS, ENOUGH = 6, 100
PROBE_SECONDS = 0.1


@dataclass
class Replica:
    """A portal in a process of its own, which may be stopped and started again on its port."""

    place: Path
    port: int
    process: asyncio.subprocess.Process | None = None
    ready: bool = False

    @classmethod
    async def begun(cls, place: Path) -> Replica:
        replica = cls(place, free_port())
        (place / "config").mkdir(parents=True)
        (place / "config" / "portal.yaml").write_text(
            f"listen: {{port: {replica.port}}}\nservices: {{embedding: none}}\n"
            "limits: {calls: none, drain: 1s}\n"
        )
        (place / "config" / "tiers.yaml").write_text("default: open\n")
        await replica.start()
        return replica

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, str(self.place)),
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        assert int(await self.process.stdout.readline()) == self.port

    async def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(self.process.wait(), 60) == 0


class TcpBalancer:
    """Hands each connection to a replica that its prober found ready, byte by byte."""

    def __init__(self, replicas: list[Replica]) -> None:
        self._replicas = replicas
        self._turn = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with asyncio.TaskGroup() as group:
            probes = [group.create_task(self._probe(each)) for each in self._replicas]
            yield f"http://127.0.0.1:{port}/mcp"
            for probe in probes:
                probe.cancel()
            server.close()

    async def _probe(self, replica: Replica) -> None:
        async with httpx2.AsyncClient(timeout=10) as http:
            while True:
                try:
                    answer = await http.get(f"http://127.0.0.1:{replica.port}/readyz")
                    replica.ready = answer.is_success
                except httpx2.HTTPError:
                    replica.ready = False
                await asyncio.sleep(PROBE_SECONDS)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ready = [each for each in self._replicas if each.ready]
        self._turn += 1
        with suppress(OSError):
            chosen = ready[self._turn % len(ready)]
            behind_reader, behind = await asyncio.open_connection("127.0.0.1", chosen.port)
            await asyncio.gather(_copied(reader, behind), _copied(behind_reader, writer))
        writer.close()


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def test_a_rolling_restart_under_load_loses_no_call(tmp_path: Path) -> None:
    replicas = [await Replica.begun(tmp_path / name) for name in ("one", "two")]
    answered, failed, over = 0, list[str](), asyncio.Event()

    async def load(url: str) -> None:
        nonlocal answered
        async with httpx2.AsyncClient(timeout=60) as http:
            while not over.is_set():
                try:
                    call = request("tools/call", name="look", arguments={"name": "north"})
                    answer = await http.post(url, **call)
                    assert "beans" in answer.text, answer.text
                    answered += 1
                except (httpx2.HTTPError, AssertionError) as error:
                    failed.append(repr(error))
                await asyncio.sleep(0.01)

    async def ready(replica: Replica) -> None:
        async with asyncio.timeout(60):
            while not replica.ready:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    try:
        async with TcpBalancer(replicas).running() as url:
            await asyncio.gather(*map(ready, replicas))
            async with asyncio.TaskGroup() as group:
                for _ in range(CLIENTS):
                    group.create_task(load(url))
                for replica in replicas:
                    before = answered
                    await replica.stop()
                    assert answered > before, "calls went on while it stopped"
                    await replica.start()
                    await ready(replica)
                while answered < ENOUGH and not failed:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
                over.set()
    finally:
        for replica in replicas:
            if replica.process is not None and replica.process.returncode is None:
                replica.process.kill()
                await replica.process.wait()
    assert failed == []


async def test_after_the_signal_a_replica_is_not_ready_answers_and_then_ends_connections(
    tmp_path: Path,
) -> None:
    replica = await Replica.begun(tmp_path / "one")
    assert replica.process is not None
    url = f"http://127.0.0.1:{replica.port}"
    async with httpx2.AsyncClient(timeout=60) as http:
        assert (await http.get(f"{url}/readyz")).status_code == 200
        replica.process.send_signal(signal.SIGTERM)
        states, ended = set[tuple[int, bool]](), False
        with suppress(httpx2.HTTPError):
            while True:
                answer = await http.get(f"{url}/readyz")
                ended = answer.headers.get("connection") == "close"
                states.add((answer.status_code, ended))
                await asyncio.sleep(0.02)
        assert ended, "the last answers ended their connections"
        assert {(503, False), (503, True)} <= states
        assert await asyncio.wait_for(replica.process.wait(), 60) == 0
