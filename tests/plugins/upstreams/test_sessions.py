"""Clients share a session of an older server, or have one each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as mcp
import pytest

from gateway.testing import TestPortal
from plugins.upstreams.servers import pool
from tests.gateway.surfaces.mcp.conftest import LEGACY, Wire
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.portals import portal_before, until, until_offered


class Sessions:
    """A server that says in which of its sessions it is asked, and there remembers roots."""

    def __init__(self, far: Far) -> None:
        self.seen: list[str] = []
        self.roots: dict[int, str] = {}
        self.may_answer = asyncio.Event()
        far.conversations = {"which": self.which, "roots": self.ask_roots, "wait": self.wait}
        far.tools += [
            {"name": name, "description": "Says which.", "inputSchema": {"type": "object"}}
            for name in far.conversations
        ]

    async def which(self, context: Any, params: Any) -> Any:
        number = self._number(context)
        return _said(f"{number} {self.roots.get(number, '')}".strip())

    def _number(self, context: Any) -> int:
        session = context.request.headers["mcp-session-id"]
        if session not in self.seen:
            self.seen.append(session)
        return self.seen.index(session)

    async def ask_roots(self, context: Any, params: Any) -> Any:
        said = await self.which(context, params)
        found = await context.session.list_roots()
        self.roots[self._number(context)] = str(found.roots[0].uri)
        return said

    async def wait(self, context: Any, params: Any) -> Any:
        said = await self.which(context, params)
        await self.may_answer.wait()
        return said


def _said(text: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)])


@pytest.fixture
def far() -> Iterator[Far]:
    with far_server("legacy") as far:
        yield far


async def _client(portal: TestPortal) -> Wire:
    return await Wire(portal).begin({"roots": {}})


async def _which(wire: Wire) -> str:
    reply = await wire.call("far__which", LEGACY).reply()
    return str(reply["result"]["content"][0]["text"])


async def _ask_roots(wire: Wire) -> None:
    call = wire.call("far__roots", LEGACY)
    question = await call.event()
    assert question is not None
    assert question["method"] == "roots/list"
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///hers"}]}}
    await wire.send(reply, {"mcp-protocol-version": LEGACY}).start()
    assert "error" not in await call.reply()


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
async def test_all_share_one_session_until_the_server_asks_for_roots(far: Far) -> None:
    sessions = Sessions(far)
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__roots")
        hers, his = [await _client(portal) for _ in range(2)]
        assert await _which(hers) == await _which(his) == "0"
        await _ask_roots(hers)
        assert sessions.roots == {0: "file:///hers"}
        assert [await _which(each) for each in (hers, his, hers, his)] == ["1", "2", "1", "2"]


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
async def test_an_admin_may_have_all_share_it_all_the_same(far: Far) -> None:
    Sessions(far)
    async with portal_before(far.url, session="shared") as portal:
        await until_offered(portal, "far__roots")
        hers, his = [await _client(portal) for _ in range(2)]
        await _ask_roots(hers)
        assert await _which(his) == "0 file:///hers"


async def test_each_client_may_have_its_own(far: Far) -> None:
    sessions = Sessions(far)
    async with portal_before(far.url, session="per-client") as portal:
        await until_offered(portal, "far__which")
        hers, his = [await _client(portal) for _ in range(2)]
        assert [await _which(each) for each in (hers, his, hers)] == ["0", "1", "0"]
        # Nothing tells strangers of the newer era apart, so that each call has its own.
        calls = [await portal.call("far__which", tier="open") for _ in range(2)]
        assert [each.text for each in calls] == ["2", "3"]
        # A member is known, whatever the era.
        calls = [await portal.call("far__which", tier="members") for _ in range(2)]
        assert [each.text for each in calls] == ["4", "4"]
        assert len(sessions.seen) == 5


async def test_who_finds_no_session_left_is_told_so_and_idle_ones_make_room(far: Far) -> None:
    sessions = Sessions(far)
    async with portal_before(far.url, session="per-client", max_sessions=1) as portal:
        await until_offered(portal, "far__wait")
        hers, his = [await _client(portal) for _ in range(2)]
        waiting = hers.call("far__wait", LEGACY)

        async def is_there() -> bool:
            return len(sessions.seen) == 1

        await until(is_there)
        refused = (await his.call("far__which", LEGACY).reply())["result"]
        assert refused["isError"]
        assert "far is busy" in refused["content"][0]["text"]
        assert far.loop is not None
        far.loop.call_soon_threadsafe(sessions.may_answer.set)
        assert (await waiting.reply())["result"]["content"][0]["text"] == "0"
        assert await _which(his) == "1"
        assert await _which(hers) == "2"


async def test_what_a_client_uses_no_more_is_closed(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "IDLE_SECONDS", 0.0)
    Sessions(far)
    async with portal_before(far.url, session="per-client") as portal:
        await until_offered(portal, "far__which")
        wire = await _client(portal)
        assert await _which(wire) == "0"

        async def is_new() -> bool:
            return await _which(wire) != "0"

        await until(is_new)
