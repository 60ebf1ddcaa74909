"""Clients that crawl, crowd, hang up or send nonsense: everyone else is served as before."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.faults.conftest import MEMBER, TOKEN, Place, Portal, eventually, modern

pytestmark = pytest.mark.heavy

SLOW = """
import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from gateway.contract import Offer, Plugin, Tool, hookimpl

async def doze(mark: str) -> str:
    \"\"\"Sleep until cancelled.

    Args:
        mark: the file to write.
    \"\"\"
    Path(mark).write_text("begun")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        Path(mark).write_text("cancelled")
        raise
    return "rested"

@asynccontextmanager
async def opened(config, host):
    yield Offer(tools=[Tool.of(doze)])

@hookimpl
def porch_plugin():
    return Plugin("dozing", "Sleeps.", opened)
"""


@pytest.fixture
def portal(place: Place) -> Portal:
    place.page("garden", "Garden")
    return place.serve().ready()


def _connect(portal: Portal, sent: bytes) -> socket.socket:
    address = urlsplit(portal.url)
    assert address.hostname
    assert address.port
    connection = socket.create_connection((address.hostname, address.port), timeout=60)
    connection.sendall(sent)
    return connection


def test_clients_that_send_a_byte_now_and_then_hold_up_nobody(portal: Portal) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
    begun = (
        head.encode()[:20],
        head.encode(),
        f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode(),
    )
    with ExitStack() as open_:
        slow = [open_.enter_context(_connect(portal, begun[n % 3])) for n in range(150)]
        for connection in slow[2::3]:
            connection.sendall(b" ")
        assert [each["id"] for each in portal.search("garden")] == ["garden"]
        assert portal.stop() == 0


async def test_two_hundred_calls_at_once_are_all_answered(portal: Portal) -> None:
    request = modern("tools/call", name="search_knowledge", arguments={"query": "garden"})
    limits = httpx2.Limits(max_connections=200)
    async with httpx2.AsyncClient(timeout=60, limits=limits) as client:
        answers = await asyncio.gather(
            *(client.post(f"{portal.url}/mcp", **request) for _ in range(200))
        )
    assert {answer.status_code for answer in answers} == {200}
    found = {answer.json()["result"]["structuredContent"]["results"][0]["id"] for answer in answers}
    assert found == {"garden"}
    text = portal.get("/metrics").text
    assert 'porch_calls_total{item="search_knowledge",kind="tool",outcome="ok"' in text


def test_a_client_that_hangs_up_cancels_its_call(place: Place) -> None:
    plugin = place.root / "dozing"
    (plugin / "dozing-1.dist-info").mkdir(parents=True)
    (plugin / "dozing.py").write_text(SLOW)
    (plugin / "dozing-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dozing\nVersion: 1\n"
    )
    (plugin / "dozing-1.dist-info" / "entry_points.txt").write_text(
        "[porch.plugins]\ndozing = dozing\n"
    )
    portal = place.serve(PYTHONPATH=f"{Path.cwd()}:{plugin}").ready()
    mark = place.root / "mark"
    mark.touch()
    request = modern("tools/call", name="doze", arguments={"mark": str(mark)})
    body = json.dumps(request["json"])
    headers = "".join(f"{name}: {value}\r\n" for name, value in request["headers"].items())
    with _connect(
        portal,
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode(),
    ):
        eventually(lambda: mark.read_text() == "begun", "the tool runs")
    eventually(lambda: mark.read_text() == "cancelled", "the tool is cancelled")
    outcome = 'porch_calls_total{item="doze",kind="tool",outcome="cancelled",tier="members"} 1.0'
    eventually(lambda: outcome in portal.get("/metrics").text, "it is counted")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1" + b"0" * 30 + b"\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_400_and_nothing_more(portal: Portal, sent: bytes) -> None:
    with _connect(portal, sent) as connection:
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Traceback" not in answer
    assert [each["id"] for each in portal.search("garden")] == ["garden"]


def test_tokens_and_questions_reach_no_log_no_metric_and_no_record(
    place: Place,
) -> None:
    place.page("garden", "Garden")
    portal = place.serve().ready()
    guessed = "a-token-that-somebody-guessed"
    asked = "an-unmistakable-question"
    for header in (f"Bearer {TOKEN}", f"Bearer {guessed}", f"Basic {guessed}", guessed):
        answer = portal.get(f"/api/v1/search?q={asked}", headers={"authorization": header})
        assert guessed not in answer.text
    portal.call("search_knowledge", {"query": asked})
    portal.call("search_knowledge", {"quary": asked})
    portal.call(TOKEN, {"query": asked})
    portal.get(f"/{TOKEN}", headers=MEMBER)
    told = portal.get("/metrics").text + json.dumps(portal.health())
    assert portal.stop() == 0
    records = place.porch("audit", "--json").stdout
    assert len(json.loads(records)) >= 4
    kept = b"".join(path.read_bytes() for path in place.data.rglob("*") if path.is_file())
    for secret in (guessed, asked):
        assert secret not in portal.printed + told + records
        assert secret.encode() not in kept
    assert TOKEN not in portal.printed + told + records
