"""Members use a server of others as if it were the portal's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import JSONResponse

from tests.gateway.surfaces.mcp.conftest import LEGACY, MODERN, Wire
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.portals import portal_before, until_offered


@pytest.fixture(params=["modern", "legacy"])
def far(request: pytest.FixtureRequest) -> Iterator[Far]:
    with far_server(request.param) as far:
        yield far


async def test_tools_prompts_and_resources_of_a_server_are_the_portals(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        result = await portal.mcp("open").call("far__add", {"a": 2, "b": 3})
        assert result["structuredContent"] == {"sum": 5}
        [message] = await portal.prompt("far__welcome", {"who": "Ana"}, tier="open")
        assert message["content"]["text"] == "Welcome Ana"
        assert await portal.read("plot://7", tier="open") == "what grows at plot://7"
        assert await portal.read("bed://a/b?c", tier="open") == "what grows at bed://a/b?c"
        assert set(await portal.resources("open")) == {
            "plot://7",
            "ui://far/board/main",
            "bed://{+path}",
        }
        read = await portal.mcp("open").request("resources/read", {"uri": "ui://far/board/main"})
        assert read["contents"] == [
            {"uri": "ui://far/board/main", "text": "what grows at ui://board/main"}
        ]
        assert await portal.complete("far__welcome", "who", "A", tier="open") == ["Ana"]


async def test_a_warm_call_is_one_request(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        await portal.call("far__add", {"a": 1, "b": 1}, tier="open")
        before = far.asked.copy()
        for number in range(10):
            await portal.call("far__add", {"a": number, "b": 1}, tier="open")
        assert far.asked - before == {"tools/call": 10}


async def test_a_servers_error_reaches_the_client_as_it_is(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__fail")
        answer = await Wire(portal).modern("tools/call", {"name": "far__fail"}).reply()
        assert answer["error"] == {
            "code": -32050,
            "message": "It does not work.",
            "data": {"why": "rust"},
        }


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_progress_comes_through_whatever_the_eras(far: Far, era: str) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__slow")
        wire = Wire(portal) if era == MODERN else await Wire(portal).begin()
        progress, reply = await wire.call("far__slow", era, token="t").events()
        assert progress["params"] == {
            "progressToken": "t",
            "progress": 1,
            "total": 2,
            "message": "half",
        }
        assert reply["result"]["content"][0]["text"] == "done"


async def test_what_a_server_asks_reaches_a_client_of_the_older_era(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__greet")
        wire = await Wire(portal).begin({"elicitation": {}})
        answer = wire.call("far__greet", LEGACY)
        question = await answer.event()
        assert question is not None
        assert question["params"]["message"] == "Who are you?"
        reply = {"action": "accept", "content": {"name": "Ana"}}
        await wire.send(
            {"jsonrpc": "2.0", "id": question["id"], "result": reply},
            {"mcp-protocol-version": LEGACY},
        ).start()
        assert (await answer.reply())["result"]["content"][0]["text"] == "Hello Ana"


async def test_tiers_decide_about_a_servers_tools(far: Far) -> None:
    tiers = {"items": {"upstreams/far/*": "members", "upstreams/far/add": "open"}}
    async with portal_before(far.url, tiers=tiers) as portal:
        await until_offered(portal, "far__slow", tier="members")
        assert set(await portal.tools("open")) == {"far__add", "why_missing"}
        refused = await portal.call("far__slow", tier="open")
        assert "Requires members access" in refused.text


async def test_what_a_server_asks_reaches_a_client_of_the_newer_era(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__greet")
        wire = Wire(portal)
        able: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        params: dict[str, Any] = {"name": "far__greet", "arguments": {}}
        asked = (await wire.modern("tools/call", params, meta=able).reply())["result"]
        assert asked["resultType"] == "input_required"
        [(name, question)] = asked["inputRequests"].items()
        assert question["params"]["message"] == "Who are you?"
        answer = {"action": "accept", "content": {"name": "Ana"}}
        params |= {"inputResponses": {name: answer}, "requestState": asked["requestState"]}
        other = await Wire(portal, "members").modern("tools/call", params, meta=able).reply()
        assert "error" in other  # the state is bound to who was asked
        done = (await wire.modern("tools/call", params, meta=able).reply())["result"]
        assert done["content"][0]["text"] == "Hello Ana"


async def test_a_client_that_cannot_be_asked_is_told_what_it_lacks(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__greet")
        answer = await Wire(portal).modern("tools/call", {"name": "far__greet"}).reply()
        assert answer["error"]["code"] == -32021
        assert answer["error"]["data"]["requiredCapabilities"] == {"elicitation": {}}


async def test_servers_come_and_go_as_the_file_is_saved(far: Far) -> None:
    async with portal_before(far.url) as portal:
        await until_offered(portal, "far__add")
        written = (portal.config_dir / "portal.yaml").read_text("utf-8")
        (portal.config_dir / "portal.yaml").write_text(written.replace("name: far", "name: near"))
        await until_offered(portal, "near__add")
        assert "far__add" not in await portal.tools("open")
        assert (await portal.call("near__add", {"a": 1, "b": 1}, tier="open")).structured[
            "sum"
        ] == 2


async def test_a_server_that_refuses_a_revision_and_names_it_is_asked_again() -> None:
    refused: list[int] = []

    def refusing(app: Any) -> Any:
        async def first(scope: Any, receive: Any, send: Any) -> None:
            if refused:
                await app(scope, receive, send)
                return
            refused.append(1)
            asked = json.loads((await receive())["body"])
            data = {"supported": [MODERN], "requested": MODERN}
            error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
            answer = {"jsonrpc": "2.0", "id": asked["id"], "error": error}
            await JSONResponse(answer, 400)(scope, receive, send)

        return first

    with far_server("modern", around=refusing) as far:
        async with portal_before(far.url) as portal:
            await until_offered(portal, "far__add")
    assert refused == [1]
    assert far.asked["initialize"] == 0
