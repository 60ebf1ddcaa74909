"""A legacy client whose connection broke comes back, and has what it has missed."""

from __future__ import annotations

import asyncio

from gateway.surfaces.mcp import reply_delivery
from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.conftest import LEGACY


async def _asked(wire):
    session = await wire.begin({"elicitation": {}})
    answer = session.call("ask", LEGACY)
    return session, answer, await answer.event()


async def _come_back(session, event_id, **more):
    return session.send(b"", {"last-event-id": event_id}, "GET", **more)


async def test_a_reply_whose_connection_broke_is_told_when_the_client_comes_back(wire, moods):
    session = await wire.begin()
    broken = session.call("pause", LEGACY, token=1)
    await broken.event()
    broken.go()
    for path in ("/mcp", "/mcp/moods"):
        again = await _come_back(session, broken.ids[-1], path=path)
        told = await again.events()
        assert [each["result"]["content"][0]["text"] for each in told] == ["done"]
        assert again.ids[0] == broken.ids[-1], "it is primed with the place that it came with"
    assert moods.paused == ["finished"], "the call ran once"


async def test_a_reply_is_told_to_its_session_and_caller_alone(wire, member):
    session, other = await member.begin(), await member.begin()
    answer = session.call("pause", LEGACY, token=1)
    await answer.reply()
    thief = await (await _come_back(other, answer.ids[0])).start()
    assert thief.status == 400
    assert "not kept here" in (await thief.reply())["error"]["message"]
    session.tier = "open"
    assert (await (await _come_back(session, answer.ids[0])).start()).status == 404
    session.tier = "members"
    assert (await (await _come_back(session, answer.ids[0])).start()).status == 200


async def test_a_quick_answer_is_plain_json_and_has_no_id(wire):
    session = await wire.begin()
    answer = session.call("echo", LEGACY)
    await answer.reply()
    assert (answer.headers["content-type"], answer.ids) == ("application/json", [])


async def test_telling_again_takes_one_of_the_streams_places(moods):
    config = {"limits": {"streams": {"total": 1}}}
    async with open_test_portal(moods, config=config, tiers=moods.TIERS) as portal:
        session = await moods.Wire(portal).begin()
        answer = session.call("pause", LEGACY, token=1)
        await answer.reply()
        news = await session.send(b"", method="GET").start()
        refused = await (await _come_back(session, answer.ids[0])).start()
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        await news.leave()
        assert "result" in await (await _come_back(session, answer.ids[0])).reply()


async def test_a_question_is_asked_again_when_its_client_comes_back(wire):
    session, answer, question = await _asked(wire)
    answer.go()
    again = await _come_back(session, answer.ids[0])
    assert await again.event() == question
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
    await session.send(reply).start()
    assert "accept" in str(await again.reply())


async def test_a_question_ends_when_its_client_leaves_for_good(wire, recorded, monkeypatch):
    monkeypatch.setattr(reply_delivery, "STREAM_PING_SECONDS", 0.05)
    session, answer, _ = await _asked(wire)
    answer.go()
    await session.send(method="DELETE").start()
    async with asyncio.timeout(60):
        while not recorded:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    assert recorded[-1].outcome == "client_left"
