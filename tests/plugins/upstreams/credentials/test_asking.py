"""A call that needs a connection asks its person in the way that their client knows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import mcp_types as mcp
import pytest

from gateway.testing import TestPortal
from tests.gateway.surfaces.mcp.conftest import LEGACY, Answer, Wire
from tests.plugins.upstreams.credentials.members import Member, member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until_offered

CALL = {"name": "far__add", "arguments": {"a": 1, "b": 2}}
ABLE: dict[str, Any] = {mcp.CLIENT_CAPABILITIES_META_KEY: {"elicitation": {"url": {}}}}


OPENS_LINKS: dict[str, Any] = {"elicitation": {"url": {}}}
COMPLETE = "notifications/elicitation/complete"


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    with guarded_server() as guarded:
        yield guarded


@pytest.fixture
async def portal(guarded: Guarded) -> AsyncIterator[TestPortal]:
    """Ben has connected, so that the tools are listed; Ana has not."""
    async with portal_of(guarded) as portal:
        ben = await member(portal, "ben")
        await ben.connect(guarded)
        await until_offered(portal, "far__add", tier="ben")
        yield portal


@pytest.fixture
async def ana(portal: TestPortal) -> Member:
    return await member(portal, "ana")


async def asked(wire: Wire) -> dict[str, Any]:
    """What a call asks its client to open."""
    answer = await wire.call("far__add", LEGACY, a=1, b=2).reply()
    assert answer["error"]["code"] == mcp.URL_ELICITATION_REQUIRED
    [question] = answer["error"]["data"]["elicitations"]
    assert isinstance(question, dict)
    return question


async def stream_of(wire: Wire) -> Answer:
    return await wire.send(method="GET", headers={"mcp-protocol-version": LEGACY}).start()


async def told(stream: Answer) -> dict[str, Any]:
    """The next that a stream tells, without news of lists."""
    while (event := await stream.event()) is not None:
        if not event["method"].endswith("list_changed"):
            return event
    raise AssertionError("the stream has ended")


async def test_a_client_of_2025_11_25_is_told_to_open_the_link(
    portal: TestPortal, ana: Member
) -> None:
    question = await asked(await Wire(portal, "ana").begin(OPENS_LINKS))
    assert question["mode"] == "url"
    assert question["elicitationId"]
    assert question["url"].startswith("http://localhost/account?connect=upstreams%2Ffar&for=")


async def test_who_waits_is_told_when_it_is_done_and_the_call_then_works(
    portal: TestPortal, guarded: Guarded, ana: Member
) -> None:
    wire = await Wire(portal, "ana").begin(OPENS_LINKS)
    stream = await stream_of(wire)
    question = await asked(wire)
    link = urlsplit(question["url"])
    assert "asked for" in (await ana.browser.get(f"{link.path}?{link.query}")).text
    await ana.connect(guarded)
    event = await told(stream)
    assert event["method"] == COMPLETE
    assert event["params"] == {"elicitationId": question["elicitationId"]}
    again = (await wire.call("far__add", LEGACY, a=1, b=2).reply())["result"]
    assert again["structuredContent"] == {"sum": 3}
    assert guarded.calls[-1] == ("ana-there", "1")
    await stream.leave()


async def test_who_opens_its_stream_later_is_told_then(
    portal: TestPortal, guarded: Guarded, ana: Member
) -> None:
    wire = await Wire(portal, "ana").begin(OPENS_LINKS)
    questions = {(await asked(wire))["elicitationId"] for _ in range(2)}
    assert len(questions) == 2
    await ana.connect(guarded)
    stream = await stream_of(wire)
    heard = [await told(stream) for _ in range(2)]
    assert {each["params"]["elicitationId"] for each in heard} == questions
    await stream.leave()


async def test_nobody_is_told_of_what_another_has_done(
    portal: TestPortal, guarded: Guarded, ana: Member
) -> None:
    eve = await member(portal, "eve")
    wires = {name: await Wire(portal, name).begin(OPENS_LINKS) for name in ("ana", "eve")}
    streams = {name: await stream_of(wire) for name, wire in wires.items()}
    questions = {name: (await asked(wire))["elicitationId"] for name, wire in wires.items()}
    await eve.connect(guarded)
    await ana.connect(guarded)
    for name, stream in streams.items():
        assert (await told(stream))["params"] == {"elicitationId": questions[name]}
        await stream.leave()


async def test_a_client_of_2026_07_28_is_asked_in_the_result(
    portal: TestPortal, ana: Member
) -> None:
    wire = Wire(portal, "ana")
    result = (await wire.modern("tools/call", CALL, meta=ABLE).reply())["result"]
    assert result["resultType"] == "input_required"
    [(name, wish)] = result["inputRequests"].items()
    assert wish["method"] == "elicitation/create"
    assert wish["params"]["mode"] == "url"
    declined: dict[str, Any] = {**CALL, "inputResponses": {name: {"action": "decline"}}}
    again = (await wire.modern("tools/call", declined, meta=ABLE).reply())["result"]
    assert again["isError"]
    as_ben: dict[str, Any] = {**CALL, "inputResponses": {name: {"action": "accept"}}}
    gone_on = (await Wire(portal, "ben").modern("tools/call", as_ben, meta=ABLE).reply())["result"]
    assert gone_on["structuredContent"] == {"sum": 3}


async def test_any_other_client_is_told_the_link(portal: TestPortal, ana: Member) -> None:
    refused = await portal.call("far__add", CALL["arguments"], tier="ana")  # type: ignore[arg-type]
    assert refused.is_error
    assert "Open http://localhost/account?connect=upstreams%2Ffar&for=" in refused.text
