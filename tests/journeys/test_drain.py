"""Two replicas are restarted one after the other under load, and no call is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from benchmarks.processes import free_port
from tests.journeys.replica import Load, Replica, until
from tests.journeys.test_serving import SERVER, request
from tests.servers import nginx

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

PROBE_SECONDS = 0.1
BEHIND_NGINX = f"public_url: https://{nginx.HOST}\ntrusted_proxies: [127.0.0.1]\n"

LATE = SERVER.replace(
    "logs.configure",
    """
import asyncio
from contextlib import asynccontextmanager

at_once = garden._open

@asynccontextmanager
async def late(config, host):
    print("opening", flush=True)
    await asyncio.sleep(5)
    async with at_once(config, host) as offer:
        yield offer

garden._open = late
logs.configure""",
)
"""The server of a replica whose plugin takes a while to open."""


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


@asynccontextmanager
async def two(place: Path, settings: str = "") -> AsyncIterator[list[Replica]]:
    """Two replicas."""
    replicas = [await Replica.begun(place / name, settings) for name in ("one", "two")]
    try:
        yield replicas
    finally:
        for replica in replicas:
            await replica.kill()


async def test_a_rolling_restart_behind_a_prober_loses_no_call(tmp_path: Path) -> None:
    async with two(tmp_path) as replicas, TcpBalancer(replicas).running() as url:
        await until(lambda: all(each.ready for each in replicas))
        load = Load(url)
        await load.on_rolling_restarts(replicas, lambda replica: replica.ready)
        assert load.failed == []


@pytest.mark.skipif(
    nginx.PROGRAM is None and not os.environ.get("CI"), reason="nginx is not installed"
)
async def test_a_rolling_restart_behind_the_documented_nginx_loses_no_call(tmp_path: Path) -> None:
    place = tmp_path / "nginx"
    async with two(tmp_path, BEHIND_NGINX) as replicas:
        async with nginx.balancing(place, [each.port for each in replicas]) as (url, trusting):
            load = Load(f"{url}/mcp", {"host": nginx.HOST}, trusting)

            def served(replica: Replica) -> bool:
                return f"127.0.0.1:{replica.port} 200" in (place / "access").read_text()[-500:]

            await load.on_rolling_restarts(replicas, served)
        assert load.failed == [], (place / "errors").read_text()


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


@asynccontextmanager
async def opening(place: Path) -> AsyncIterator[Replica]:
    """A replica whose plugin is about to open."""
    replica = Replica(place, free_port(), server=LATE)
    replica.configure()
    try:
        assert await replica.begin() == b"opening\n"
        yield replica
    finally:
        await replica.kill()


async def test_a_replica_that_begins_refuses_connections_until_its_plugins_are_open(
    tmp_path: Path,
) -> None:
    async with opening(tmp_path / "one") as replica, httpx2.AsyncClient(timeout=60) as http:
        assert await _refused(replica.port)
        async with asyncio.timeout(60):
            while await _refused(replica.port):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        call = request("tools/call", name="look", arguments={"name": "north"})
        answer = await http.post(f"http://127.0.0.1:{replica.port}/mcp", **call)
        assert "beans" in answer.text


async def test_a_replica_that_is_told_to_stop_before_it_listens_ends_in_order(
    tmp_path: Path,
) -> None:
    async with opening(tmp_path / "one") as replica:
        await replica.stop()


async def test_an_idle_connection_has_a_last_answer_after_the_port_is_closed(
    tmp_path: Path,
) -> None:
    replica = await Replica.begun(tmp_path / "one", limits=", linger: 20m")
    assert replica.process is not None
    url = f"http://127.0.0.1:{replica.port}/healthz"
    for_ever = httpx2.Limits(keepalive_expiry=None)
    async with httpx2.AsyncClient(timeout=60, limits=for_ever) as kept:
        assert (await kept.get(url)).headers.get("connection") is None
        replica.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            while not await _refused(replica.port):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        last = await kept.get(url)
        assert (last.status_code, last.headers.get("connection")) == (200, "close")
        assert await asyncio.wait_for(replica.process.wait(), 300) == 0, "nothing is idle any more"


async def test_one_process_that_is_told_to_reload_goes_on(tmp_path: Path) -> None:
    replica = await Replica.begun(tmp_path / "one")
    assert replica.process is not None
    replica.process.send_signal(signal.SIGHUP)
    async with httpx2.AsyncClient(timeout=60) as http:
        answer = await http.get(f"http://127.0.0.1:{replica.port}/healthz")
    assert answer.status_code == 200
    await replica.stop()


async def _refused(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False
