"""A call that needs a connection asks its person in the way that their client knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import mcp_types as mcp
import pytest

from gateway.testing import TestPortal
from tests.gateway.surfaces.mcp.conftest import LEGACY, Wire
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import guarded_server
from tests.plugins.upstreams.portals import until_offered

CALL = {"name": "far__add", "arguments": {"a": 1, "b": 2}}
ABLE: dict[str, Any] = {mcp.CLIENT_CAPABILITIES_META_KEY: {"elicitation": {"url": {}}}}


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    """Ben has connected, so that the tools are listed; Ana has not."""
    with guarded_server() as guarded:
        async with portal_of(guarded) as portal:
            ben = await member(portal, "ben")
            await ben.connect(guarded)
            await until_offered(portal, "far__add", tier="ben")
            await portal.sign_in("ana")
            yield portal


async def test_a_client_of_2025_11_25_is_told_to_open_the_link(portal: TestPortal) -> None:
    wire = await Wire(portal, "ana").begin({"elicitation": {"url": {}}})
    answer = await wire.call("far__add", LEGACY, a=1, b=2).reply()
    assert answer["error"]["code"] == mcp.URL_ELICITATION_REQUIRED
    [asked] = answer["error"]["data"]["elicitations"]
    assert asked["mode"] == "url"
    assert asked["elicitationId"]
    assert asked["url"].startswith("http://localhost/account?connect=upstreams%2Ffar&for=")


async def test_a_client_of_2026_07_28_is_asked_in_the_result(portal: TestPortal) -> None:
    wire = Wire(portal, "ana")
    result = (await wire.modern("tools/call", CALL, meta=ABLE).reply())["result"]
    assert result["resultType"] == "input_required"
    [(name, asked)] = result["inputRequests"].items()
    assert asked["method"] == "elicitation/create"
    assert asked["params"]["mode"] == "url"
    declined: dict[str, Any] = {**CALL, "inputResponses": {name: {"action": "decline"}}}
    again = (await wire.modern("tools/call", declined, meta=ABLE).reply())["result"]
    assert again["isError"]
    as_ben: dict[str, Any] = {**CALL, "inputResponses": {name: {"action": "accept"}}}
    gone_on = (await Wire(portal, "ben").modern("tools/call", as_ben, meta=ABLE).reply())["result"]
    assert gone_on["structuredContent"] == {"sum": 3}


async def test_any_other_client_is_told_the_link(portal: TestPortal) -> None:
    refused = await portal.call("far__add", CALL["arguments"], tier="ana")  # type: ignore[arg-type]
    assert refused.is_error
    assert "Open http://localhost/account?connect=upstreams%2Ffar&for=" in refused.text
