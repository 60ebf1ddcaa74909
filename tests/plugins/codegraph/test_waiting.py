"""What goes on beside a long index: clients are told how far it is, and light work goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as mcp
import pytest
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic_core import from_json

from gateway.surfaces.mcp.request import Channel
from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.repositories import registry
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.tools import access

AT = "/api/v1/codegraph/repositories"


class Held:
    """An index that waits until the test lets it go on."""

    def __init__(self) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    held, real = Held(), Indexes.index

    async def index(self: Indexes, repository: Any, root: Path, progress: Any, then: Any) -> Any:
        progress(3, 10, "reading 3 of 10 files")
        held.begun.set()
        await held.go_on.wait()
        return await real(self, repository, root, progress, then)

    monkeypatch.setattr(Indexes, "index", index)
    return held


@pytest.fixture
async def portal(tmp_path: Path, held: Held) -> AsyncIterator[TestPortal]:
    """A portal with a repository whose first index is held."""
    tree = tmp_path / "heavy"
    tree.mkdir()
    (tree / "a.py").write_text("def run():\n    pass\n")
    section = {"repositories": [{"path": str(tree)}], "hosts": {"localhost": {}}}
    config = {"plugins": {"codegraph": section}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as opened:
        async with asyncio.timeout(60):
            await held.begun.wait()
        yield opened
        held.go_on.set()


async def events_of_a_call(portal: TestPortal) -> list[dict[str, Any]]:
    """What a client hears that asks for a function, and for progress."""
    meta = {
        mcp.PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
        mcp.CLIENT_CAPABILITIES_META_KEY: {},
        mcp.CLIENT_INFO_META_KEY: {"name": "test", "version": "1"},
        "progressToken": "far",
    }
    params = {"name": "get_function", "arguments": {"name": "run"}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": LATEST_MODERN_VERSION,
        "mcp-method": "tools/call",
        "mcp-name": "get_function",
    }
    answer = await portal.http("members").post("/mcp", json=body, headers=headers)
    lines = [each for each in answer.text.splitlines() if each.startswith("data: ")]
    return [from_json(each.removeprefix("data: ")) for each in lines]


async def test_a_call_waits_for_the_first_index_and_its_client_is_told_how_far_that_is(
    portal: TestPortal, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Channel.progress

    async def progress(self: Channel, done: float, total: Any = None, message: Any = None) -> None:
        await real(self, done, total, message)
        if "reading" in message:
            held.go_on.set()

    monkeypatch.setattr(Channel, "progress", progress)
    *said, answer = await events_of_a_call(portal)
    assert {each["method"] for each in said} == {"notifications/progress"}
    assert {each["params"]["progressToken"] for each in said} == {"far"}
    assert "heavy: reading 3 of 10 files" in {each["params"]["message"] for each in said}
    assert answer["result"]["structuredContent"]["entity"]["name"] == "run"


async def test_a_call_that_has_waited_for_long_is_told_to_ask_again(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WAIT_TIMEOUT_S", 0)
    failed = await portal.call("get_function", {"name": "run"})
    assert "The repository heavy has no index yet (" in failed.text


async def test_what_another_process_has_just_removed_is_not_told_to_be_without_an_index(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "WAIT_TIMEOUT_S", 0)
    monkeypatch.setattr(registry, "FRESH", 60)  # the portal does not look again by itself
    database = portal.running.services.for_plugin("codegraph").database
    await portal.call("get_function", {"name": "run", "repo": "heavy"})
    await registry.Repositories(database, lambda: datetime.now(UTC)).remove("heavy")
    failed = await portal.call("get_function", {"name": "run", "repo": "heavy"})
    assert "There is no repository 'heavy', nor any other that you may see" in failed.text


async def test_a_removal_does_not_wait_for_the_index_of_another_repository(
    portal: TestPortal, held: Held
) -> None:
    async def as_admin(scope: Any, receive: Any, send: Any) -> None:
        await portal.app(scope | {"porch.local": True}, receive, send)

    to = httpx2.ASGITransport(as_admin)
    tier = {"Porch-Tier": "members"}
    async with httpx2.AsyncClient(transport=to, base_url="http://localhost", headers=tier) as admin:
        added = await admin.post(AT, json={"url": "https://localhost/a/light"})
        assert (added.status_code, added.json()["state"]) == (200, "waiting")
        assert (await admin.delete(f"{AT}/light")).status_code == 200
        async with asyncio.timeout(60):
            while True:
                if not (await portal.health())["plugins"]["codegraph"]["facts"]["removing"]:
                    break
                await asyncio.sleep(0.05)
        states = {
            each["name"]: each["state"] for each in (await admin.get(AT)).json()["repositories"]
        }
    assert states == {"heavy": "indexing"}
    assert not held.go_on.is_set()
