"""A server has its caller open a link, and says when that is done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import mcp_types as mcp
import pytest
from mcp.shared.exceptions import UrlElicitationRequiredError

from gateway.contract import Change
from gateway.testing import TestPortal
from tests.gateway.surfaces.mcp.conftest import LEGACY, Answer, Wire
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.portals import portal_before, until_offered

OPENS_LINKS: dict[str, Any] = {"elicitation": {"url": {}}}
COMPLETE = "notifications/elicitation/complete"
URL, ID = "https://far.example/open", "far-1"


class Door:
    """Tools of a server that work once a link has been opened."""

    def __init__(self, far: Far) -> None:
        self.is_open = False
        self.session: Any = None
        far.conversations = {"enter": self.enter, "knock": self.knock}
        far.tools += [
            {"name": name, "description": "Wants a link opened.", "inputSchema": {"type": "object"}}
            for name in far.conversations
        ]

    async def enter(self, context: Any, params: Any) -> Any:
        """Refuse with an error that names the link (2025-11-25)."""
        self.session = context.session
        if self.is_open:
            return _said("entered")
        raise UrlElicitationRequiredError([_link(ID)])

    async def knock(self, context: Any, params: Any) -> Any:
        """Ask in the call, in the way of its era."""
        self.session = context.session
        if context.protocol_version == LEGACY:
            answer = await context.session.elicit_url("Open it.", URL, ID)
            return _said(f"link: {answer.action}")
        if params.input_responses:
            return _said(f"link: {params.input_responses['door'].action}")
        return mcp.InputRequiredResult(
            input_requests={"door": mcp.ElicitRequest(params=_link(None))}, request_state="s1"
        )

    async def say_done(self) -> None:
        """Say that the link has been opened."""
        self.is_open = True
        await self.session.send_elicit_complete(ID)


def _said(text: str) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=text)])


def _link(id: str | None) -> mcp.ElicitRequestURLParams:
    return mcp.ElicitRequestURLParams(message="Open it.", url=URL, elicitation_id=id)


@pytest.fixture
def far() -> Iterator[Far]:
    with far_server("legacy") as far:
        yield far


async def _stream(wire: Wire) -> Answer:
    return await wire.send(method="GET", headers={"mcp-protocol-version": LEGACY}).start()


async def _completed(stream: Answer) -> str:
    while (event := await stream.event()) is not None:
        if event["method"] == COMPLETE:
            return str(event["params"]["elicitationId"])
    raise AssertionError("the stream has ended")


async def _answer(wire: Wire, question: dict[str, Any], action: str) -> None:
    await wire.send(
        {"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}},
        {"mcp-protocol-version": LEGACY},
    ).start()


async def test_who_was_refused_for_a_link_hears_that_it_is_done_and_nobody_else(far: Far) -> None:
    door = Door(far)
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__enter")
        hers, other = [await Wire(portal).begin(OPENS_LINKS) for _ in range(2)]
        streams = [await _stream(each) for each in (hers, other)]
        refused = (await hers.call("far__enter", LEGACY).reply())["error"]
        assert refused["code"] == mcp.URL_ELICITATION_REQUIRED
        [link] = refused["data"]["elicitations"]
        assert (link["url"], link["elicitationId"]) == (URL, ID)
        await asyncio.to_thread(far.run, door.say_done())
        assert await _completed(streams[0]) == ID
        answer = (await hers.call("far__enter", LEGACY).reply())["result"]
        assert answer["content"][0]["text"] == "entered"
        portal.running.changes.publish(Change("upstreams", "tools"))
        heard = await streams[1].event()
        assert heard is not None
        assert heard["method"] == "notifications/tools/list_changed"
        for stream in streams:
            await stream.leave()


async def test_who_was_asked_in_the_call_hears_that_the_link_is_done(far: Far) -> None:
    door = Door(far)
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__knock")
        wire = await Wire(portal).begin(OPENS_LINKS)
        stream, call = await _stream(wire), wire.call("far__knock", LEGACY)
        question = await call.event()
        assert question is not None
        assert question["params"] == {
            "mode": "url",
            "message": "Open it.",
            "url": URL,
            "elicitationId": ID,
        }
        await _answer(wire, question, "accept")
        assert (await call.reply())["result"]["content"][0]["text"] == "link: accept"
        await asyncio.to_thread(far.run, door.say_done())
        assert await _completed(stream) == ID
        await stream.leave()


async def test_a_newer_client_is_asked_for_the_link_that_an_older_server_wants_first(
    far: Far,
) -> None:
    door = Door(far)
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__enter")
        asked = (await _modern(portal, {}))["result"]
        [(name, question)] = asked["inputRequests"].items()
        assert question["params"] == {"mode": "url", "message": "Open it.", "url": URL}
        declined = await _modern(portal, {"inputResponses": {name: {"action": "decline"}}})
        assert declined["error"]["code"] == mcp.URL_ELICITATION_REQUIRED
        door.is_open = True
        done = await _modern(portal, {"inputResponses": {name: {"action": "accept"}}})
        assert done["result"]["content"][0]["text"] == "entered"


@pytest.mark.parametrize("tool", ["far__enter", "far__knock"])
async def test_a_newer_client_that_opens_no_links_is_told_what_it_lacks(
    far: Far, tool: str
) -> None:
    Door(far)
    async with portal_before(far.url) as portal:
        await until_offered(portal, tool)
        able: dict[str, Any] = {"elicitation": {"form": {}}}
        refused = (await _modern(portal, {"name": tool}, able))["error"]
        assert refused["code"] == -32021
        assert refused["data"]["requiredCapabilities"] == {"elicitation": {"url": {}}}


async def _modern(
    portal: TestPortal, more: dict[str, Any], able: dict[str, Any] = OPENS_LINKS
) -> Any:
    meta: dict[str, Any] = {mcp.CLIENT_CAPABILITIES_META_KEY: able}
    params = {"name": "far__enter", "arguments": {}, **more}
    return await Wire(portal).modern("tools/call", params, meta=meta).reply()


async def test_a_newer_servers_link_has_an_id_for_an_older_client() -> None:
    with far_server("modern") as far:
        Door(far)
        async with portal_before(far.url) as portal:
            await until_offered(portal, "far__knock")
            wire = await Wire(portal).begin(OPENS_LINKS)
            call = wire.call("far__knock", LEGACY)
            question = await call.event()
            assert question is not None
            assert question["params"]["url"] == URL
            assert question["params"]["elicitationId"]
            await _answer(wire, question, "accept")
            assert (await call.reply())["result"]["content"][0]["text"] == "link: accept"
