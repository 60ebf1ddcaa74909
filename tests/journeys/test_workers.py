"""Two workers on one port, with PostgreSQL and Redis: one dies, and all are restarted."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.processes import ROOT, free_port
from gateway.server.data_directory import local_socket
from tests.journeys.test_replicas import HEADERS
from tests.journeys.test_serving import request
from tests.mcp_messages import INITIALIZE_PARAMS

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(500)]

PORCH = (sys.executable, "-m", "gateway.cli")
CLIENTS = 6
PATIENCE_SECONDS = 120
PORTAL = """
services:
  database: env:WORKERS_DATABASE
  cache: env:WORKERS_CACHE
  vectors: http://127.0.0.1:{nobody}
  embedding: none
plugins: {{knowledge: {{enabled: false}}, codegraph: {{enabled: false}}}}
limits: {{calls: none, drain: 1s}}
"""
"""Nothing here searches: the knowledge plugin alone would want what ``vectors`` names."""


class Portal:
    """A supervisor with its workers, as ``porch serve --workers`` starts them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        where = ["--config", str(place / "config"), "--data", str(place / "data")]
        self.printed = place / "printed"
        with self.printed.open("w") as output:
            self.process = subprocess.Popen(
                [*PORCH, "serve", "--workers", "2", "--port", str(self.port), *where],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    async def asked(self, path: str) -> httpx2.Response:
        """What a worker says to the portal's own user."""
        transport = httpx2.AsyncHTTPTransport(uds=str(local_socket(self.place / "data")))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=30
        ) as http:
            return await http.get(path)

    async def status(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.asked("/admin/status")).json()
        return found

    async def processes(self) -> dict[int, int]:
        """The workers that serve, and their processes."""
        try:
            workers = (await self.status())["workers"]
        except httpx2.TransportError:
            return {}
        return {each["number"]: each["process"] for each in workers if each["state"] == "serving"}

    async def until(self, true: Callable[[dict[int, int]], bool]) -> dict[int, int]:
        """Wait for a state of the workers: the processes of those that serve."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not true(found := await self.processes()):
                assert self.process.poll() is None, self.printed.read_text()
                await asyncio.sleep(0.1)
        return found


class Load:
    """Clients that call all the time, each call on a connection of its own.

    One that is kept, and idle for as long as a worker takes to end, is the drain test's.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self.answered = 0
        self.failed: list[str] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(self._client(over))
            try:
                yield
            finally:
                over.set()

    async def _client(self, over: asyncio.Event) -> None:
        while not over.is_set():
            call = request("tools/call", name="get_available_workflows", arguments={})
            try:
                async with httpx2.AsyncClient(timeout=60) as http:
                    answer = await http.post(self._url, **call)
                assert answer.json()["result"]["content"], answer.text
                self.answered += 1
            except (httpx2.HTTPError, AssertionError, KeyError) as error:
                self.failed.append(repr(error))
            await asyncio.sleep(0.01)

    async def more(self, number: int) -> None:
        """Wait until so many more calls are answered."""
        until = self.answered + number
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.answered < until:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


@pytest.fixture
def place(postgres: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKERS_DATABASE", postgres)
    monkeypatch.setenv("WORKERS_CACHE", redis_url)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "portal.yaml").write_text(PORTAL.format(nobody=free_port()))
    (tmp_path / "config" / "tiers.yaml").write_text("default: open\n")
    return tmp_path


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """What a service manager listens on to hear that the portal is ready."""
    name = f"porch-{uuid.uuid4().hex}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name}")
        listening.settimeout(PATIENCE_SECONDS)
        yield listening


async def test_workers_answer_as_one_portal_on_a_bad_day(
    place: Path, manager: socket.socket
) -> None:
    portal = Portal(place)
    try:
        before = await portal.until(lambda found: len(found) == 2)
        assert manager.recv(64) == b"READY=1"
        load = Load(f"http://127.0.0.1:{portal.port}/mcp")
        async with load.running():
            await load.more(100)
            await check_sessions(portal)
            await check_figures(portal)
            after = await check_a_kill(portal, load, before)
            await check_a_restart(portal, load, after)
            load.failed.clear()
        portal.process.terminate()
        assert await asyncio.to_thread(portal.process.wait, PATIENCE_SECONDS) == 0
        assert not any(alive(process) for process in after.values())
        assert not local_socket(place / "data").is_symlink()
    except BaseException as error:
        error.add_note(portal.printed.read_text()[-6000:])
        raise
    finally:
        if portal.process.poll() is None:
            portal.process.kill()


async def check_sessions(portal: Portal) -> None:
    """A legacy session is good in whichever worker hears of it."""
    url = f"http://127.0.0.1:{portal.port}/mcp"

    async def post(method: str, headers: dict[str, str], **params: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with httpx2.AsyncClient(timeout=30) as http:  # a connection each
            return await http.post(url, json=message, headers=HEADERS | headers)

    begun = await post("initialize", {}, **INITIALIZE_PARAMS)
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    answers = await asyncio.gather(*(post("ping", session) for _ in range(20)))
    assert {each.status_code for each in answers} == {200}


async def calls_of_each(portal: Portal) -> dict[str, float]:
    """How many calls each worker has answered, by the scrape of one of them."""
    text = (await portal.asked("/metrics")).text
    families = {each.name: each for each in text_string_to_metric_families(text)}
    up = {s.labels["worker"]: s.value for s in families["porch_worker_up"].samples}
    assert up == {"1": 1, "2": 1}
    return {
        number: sum(
            s.value
            for s in families["porch_calls"].samples
            if s.labels["worker"] == number and s.labels["item"] == "get_available_workflows"
        )
        for number in up
    }


async def check_figures(portal: Portal) -> None:
    """Each worker has calls of its own, and one status and one scrape have them all."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not all((await calls_of_each(portal)).values()):  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    status = await portal.status()
    assert status["calls"]["calls"] >= 100
    logged = portal.printed.read_text()
    assert {int(each) for each in re.findall(r'"worker": (\d)', logged)} == {1, 2}


async def check_a_kill(portal: Portal, load: Load, before: dict[int, int]) -> dict[int, int]:
    """Only calls in flight on the killed worker fail, and there is a new one."""
    assert load.failed == []
    os.kill(before[2], signal.SIGKILL)
    after = await portal.until(lambda found: len(found) == 2 and found[2] != before[2])
    assert len(load.failed) <= CLIENTS, load.failed
    assert after[1] == before[1]
    notices = (await portal.status())["notices"]
    assert any("Worker 2 has died once" in each and "SIGKILL" in each for each in notices)
    load.failed.clear()
    return after


async def check_a_restart(portal: Portal, load: Load, before: dict[int, int]) -> None:
    """SIGHUP restarts one after the other, and no call is lost; what is wrong is refused."""
    file = portal.place / "config" / "portal.yaml"
    right = file.read_text()
    file.write_text(right.replace("env:WORKERS_CACHE", "memory"))
    portal.process.send_signal(signal.SIGHUP)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "restart_refused" not in portal.printed.read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    file.write_text(right)
    portal.process.send_signal(signal.SIGHUP)
    after = await portal.until(
        lambda found: len(found) == 2 and not set(found.values()) & set(before.values())
    )
    before.update(after)
    await load.more(50)
    assert load.failed == []


def alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


async def test_a_worker_that_cannot_start_ends_all_with_its_error_once(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKERS_DATABASE", f"postgresql://nobody@127.0.0.1:{free_port()}/none")
    portal = Portal(place)
    code = await asyncio.to_thread(portal.process.wait, PATIENCE_SECONDS)
    printed = portal.printed.read_text()
    assert code == 3, printed
    assert printed.count("config/portal.yaml:3: services.database") == 1
