"""Over real connections: news reach clients, and calls in flight are finished at the end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytestmark = pytest.mark.heavy

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SERVER = """
import sys
from pathlib import Path

import uvloop

from gateway.observability import logs
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.server.data_directory import held
from gateway.server.server import serve
from tests.journeys import garden

logs.configure("warning")
place = Path(sys.argv[1])
portal = load_portal(place / "config")
app = PortalApp(portal, place / "data", None, [garden])
with held(place / "data"):
    ready = lambda port: print(port, flush=True)
    uvloop.run(serve(app, portal.config, place / "data", ready))
print("stopped", flush=True)
"""


@asynccontextmanager
async def running(place: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The portal with the garden in a process of its own, and its URL."""
    (place / "config").mkdir()
    (place / "config" / "portal.yaml").write_text(
        "listen: {port: 0}\nservices: {embedding: none}\nlimits: {calls: none}\n"
    )
    (place / "config" / "tiers.yaml").write_text("default: open\n")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(place)),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        yield process, f"http://127.0.0.1:{port}/mcp"
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def request(method: str, **params: Any) -> dict[str, Any]:
    """What ``httpx2`` needs to send one request of 2026-07-28."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
    }
    if "name" in params:
        headers["mcp-name"] = params["name"]
    return {"json": message, "headers": headers}


def linger(marker: Path, seconds: float) -> dict[str, Any]:
    """A call that writes a file when it begins, and then takes its time."""
    arguments = {"marker": str(marker), "seconds": seconds}
    return request("tools/call", name="linger", arguments=arguments)


async def written(path: Path) -> None:
    """Wait until another process has written a file."""
    async with asyncio.timeout(60):
        while True:
            if await asyncio.to_thread(path.exists):
                return
            await asyncio.sleep(0.02)


async def test_a_call_in_flight_is_finished_before_the_portal_stops(tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    async with running(tmp_path) as (process, url), httpx2.AsyncClient(timeout=60) as http:
        call = asyncio.create_task(http.post(url, **linger(marker, seconds=1.0)))
        await written(marker)
        process.send_signal(signal.SIGTERM)
        answer = await call
        assert "Done after all." in answer.text
        assert await process.wait() == 0
        assert process.stdout is not None
        assert (await process.stdout.read()).decode() == "stopped\n"


async def test_under_load_all_calls_are_finished_and_no_new_ones_taken(tmp_path: Path) -> None:
    markers = [tmp_path / f"begun-{number}" for number in range(20)]
    async with running(tmp_path) as (process, url), httpx2.AsyncClient(timeout=60) as http:
        calls = [
            asyncio.create_task(http.post(url, **linger(marker, seconds=2.0))) for marker in markers
        ]
        await asyncio.gather(*map(written, markers))
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            with pytest.raises(httpx2.TransportError):
                while True:
                    async with httpx2.AsyncClient(timeout=60) as another:
                        await another.post(url, **request("ping"))
        for answer in await asyncio.gather(*calls):
            assert (answer.status_code, "Done after all." in answer.text) == (200, True)
        assert await process.wait() == 0


async def test_a_second_signal_stops_without_waiting(tmp_path: Path) -> None:
    marker = tmp_path / "begun"
    async with running(tmp_path) as (process, url), httpx2.AsyncClient(timeout=60) as http:
        call = asyncio.create_task(http.post(url, **linger(marker, seconds=1000.0)))
        await written(marker)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(8):  # a call may go on for 10 s after one signal
            assert await process.wait() == 0
        await asyncio.wait({call})


async def test_new_tier_rules_reach_a_client_that_listens(tmp_path: Path) -> None:
    wanted = {"toolsListChanged": True}
    async with running(tmp_path) as (_, url), httpx2.AsyncClient(timeout=60) as http:
        before = await _tools(http, url)
        listening = request("subscriptions/listen", notifications=wanted)
        async with http.stream("POST", url, **listening) as stream:
            events = _events(stream)
            assert (await anext(events))["method"] == "notifications/subscriptions/acknowledged"
            (tmp_path / "config" / "tiers.yaml").write_text("default: members\n")
            assert (await anext(events))["method"] == "notifications/tools/list_changed"
        assert before
        assert await _tools(http, url) == []


async def test_a_slip_in_the_tier_rules_changes_nothing_and_is_told(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, url), httpx2.AsyncClient(timeout=60) as http:
        before = await _tools(http, url)
        (tmp_path / "config" / "tiers.yaml").write_text("default: nobody\n")
        async with asyncio.timeout(60):
            notices: list[str] = []
            while not notices:
                answer = await http.get(url.replace("/mcp", "/readyz"))
                notices = answer.json()["notices"]
        assert notices[0].startswith("config/tiers.yaml:1: default:")
        assert await _tools(http, url) == before


async def _tools(http: httpx2.AsyncClient, url: str) -> list[str]:
    answer = await http.post(url, **request("tools/list"))
    return [each["name"] for each in answer.json()["result"]["tools"]]


async def _events(stream: httpx2.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in stream.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[5:])
