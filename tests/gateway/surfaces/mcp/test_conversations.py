"""Streams, sessions and cancellation over the real application."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gateway.contract import Change
from gateway.surfaces.mcp import push_stream, sse
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.testing import open_test_portal

LEGACY = "2025-11-25"
LISTEN = {"toolsListChanged": True, "resourceSubscriptions": ["moods://diary", "moods://shared"]}


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - a poll with a deadline
            await asyncio.sleep(0.005)


def _cancel(request_id, method="notifications/cancelled"):
    return {"jsonrpc": "2.0", "method": method, "params": {"requestId": request_id}}


async def test_a_modern_client_that_leaves_cancels_its_call(wire, portal, recorded):
    answer = wire.call("wait", token=1)
    await answer.event()
    assert portal.running.metrics.in_flight == 1
    await answer.leave()
    await _until(lambda: bool(recorded))
    assert recorded[-1].outcome == "cancelled"
    assert portal.running.metrics.in_flight == 0


async def test_a_legacy_call_goes_on_without_its_client_until_it_is_cancelled(wire, recorded):
    session = await wire.begin()
    answer = session.call("wait", LEGACY, token=1)
    await answer.event()
    answer.go()
    await asyncio.sleep(0.2)
    assert not recorded
    assert (await session.send(_cancel(1)).start()).status == 202
    await _until(lambda: bool(recorded))
    assert recorded[-1].outcome == "cancelled"


async def test_a_cancelled_legacy_call_ends_with_an_error(wire):
    session = await wire.begin()
    answer = session.call("wait", LEGACY, token=1)
    await answer.event()
    await session.send(_cancel(1)).start()
    assert (await answer.reply())["error"]["code"] == -32800


@pytest.mark.parametrize("request_id", [1, 99, "one", None, [1], {}, True, 1.0])
async def test_cancelling_what_does_not_run_is_taken_and_dropped(wire, request_id):
    session = await wire.begin()
    await session.call("echo", LEGACY).reply()
    assert (await session.send(_cancel(request_id)).start()).status == 202


async def test_a_request_of_another_session_cannot_be_cancelled(wire):
    one, other = await wire.begin(), await wire.begin()
    answer = one.call("wait", LEGACY, token=1)
    await answer.event()
    await other.send(_cancel(1)).start()
    await one.call("echo", LEGACY).reply()
    assert not answer.task.done()
    await one.send(_cancel(1)).start()
    assert "error" in await answer.reply()


async def test_an_id_used_twice_at_once_gets_two_answers_and_can_still_be_cancelled(wire):
    session = await wire.begin()
    params = {"name": "wait", "arguments": {}, "_meta": {"progressToken": 1}}
    slow = session.legacy("tools/call", params, id="same")
    await slow.event()
    quick = session.legacy("tools/call", {"name": "echo"}, id="same")
    assert (await quick.reply())["id"] == "same"
    last = session.legacy("tools/call", params, id="same")
    await last.event()
    await session.send(_cancel("same")).start()
    assert "error" in await last.reply()
    slow.task.cancel()


async def test_an_unfinished_call_survives_the_end_of_a_later_one_with_its_id(wire):
    session = await wire.begin()
    params = {"name": "wait", "arguments": {}, "_meta": {"progressToken": 1}}
    early = session.legacy("tools/call", params, id=5)
    await early.event()
    late = session.legacy("tools/call", params, id=5)
    await late.event()
    await session.send(_cancel(5)).start()
    await late.reply()
    assert not early.task.done()
    early.task.cancel()


async def _asked(wire, capabilities=None):
    session = await wire.begin({"elicitation": {}} if capabilities is None else capabilities)
    answer = session.call("ask", LEGACY)
    return session, answer, await answer.event()


async def test_a_legacy_client_can_be_asked(wire):
    session, answer, question = await _asked(wire)
    assert question["method"] == "elicitation/create"
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
    assert (await session.send(reply).start()).status == 202
    assert (await answer.reply())["result"]["content"][0]["text"] == "They said accept."


async def test_a_secret_in_an_answer_is_taken_out_of_it(wire):
    session, answer, question = await _asked(wire)
    said = {"action": "xoxb-" + "-".join(["123456789012", "123456789012", "a1b2" * 6])}
    await session.send({"jsonrpc": "2.0", "id": question["id"], "result": said}).start()
    result = (await answer.reply())["result"]
    assert result["content"][0]["text"] == "They said [REDACTED]."
    assert result["_meta"]["porch/redacted"][0]["rule"] == "slack-bot-token"


@pytest.mark.parametrize(
    "reply", [{"error": {"code": -1, "message": "No."}}, {"error": "no"}, {"result": 5}, {}]
)
async def test_an_answer_that_is_none_is_a_refusal(wire, reply):
    session, answer, question = await _asked(wire)
    await session.send({"jsonrpc": "2.0", "id": question["id"], **reply}).start()
    result = (await answer.reply())["result"]
    assert result["isError"] is True
    assert "refused" in result["content"][0]["text"]


async def test_a_client_that_did_not_declare_it_is_not_asked(wire):
    _, _, message = await _asked(wire, {})
    assert "did not declare" in message["result"]["content"][0]["text"]


async def test_a_modern_client_is_never_asked_on_the_stream(wire):
    result = (await wire.call("ask").reply())["result"]
    assert "cannot answer" in result["content"][0]["text"]


async def test_another_session_cannot_answer_a_question(wire):
    session, answer, question = await _asked(wire)
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
    await (await wire.begin()).send(reply).start()
    await session.call("echo", LEGACY).reply()
    assert not answer.task.done()
    await session.send(reply | {"result": {"action": "decline"}}).start()
    assert (await answer.reply())["result"]["content"][0]["text"] == "They said decline."


async def test_a_session_of_one_caller_is_unknown_to_another(wire, member):
    session = await member.begin()
    session.tier = "open"
    assert (await session.legacy("ping").start()).status == 404


async def test_a_request_without_a_session_says_how_to_begin(wire):
    answer = await wire.legacy("tools/list").start()
    assert answer.status == 400
    assert "initialize" in (await answer.reply())["error"]["message"]


async def test_an_ended_session_is_over_and_its_stream_ends(wire):
    session = await wire.begin()
    listening = session.send(b"", method="GET")
    await listening.chunk()
    assert (await session.send(b"", method="DELETE").start()).status == 204
    assert await listening.events() == []
    assert (await session.legacy("ping").start()).status == 404


async def test_a_session_id_stays_short_whatever_the_client_declares(wire):
    session = await wire.begin({"sampling": {"context": {}, "x": "y" * 10_000}})
    assert session.session is not None
    assert len(session.session) < 500


async def test_a_legacy_stream_tells_of_lists_and_of_followed_resources(wire, portal):
    session = await wire.begin()
    listening = session.send(b"", method="GET")
    await listening.chunk()
    await session.legacy("resources/subscribe", {"uri": "moods://shared"}).reply()
    portal.running.changes.publish(Change("moods", "resource", "moods://thing/1"))
    portal.running.changes.publish(Change("moods", "resource", "moods://shared"))
    portal.running.changes.publish(Change("moods", "tools"))
    told = [await listening.event(), await listening.event()]
    assert [each["method"] for each in told] == [
        "notifications/resources/updated",
        "notifications/tools/list_changed",
    ]
    await listening.leave()


@pytest.mark.parametrize("uri", ["moods://diary", "moods://unseen/1", "moods://nothing"])
async def test_what_cannot_be_read_cannot_be_followed(wire, uri):
    session = await wire.begin()
    assert "error" in await session.legacy("resources/subscribe", {"uri": uri}).reply()


async def test_no_session_follows_without_end(wire, monkeypatch):
    monkeypatch.setattr("gateway.surfaces.mcp.legacy.MAX_FOLLOWED_RESOURCES", 2)
    session = await wire.begin()
    replies = [
        await session.legacy("resources/subscribe", {"uri": f"moods://thing/{n}"}).reply()
        for n in range(3)
    ]
    assert ["error" in reply for reply in replies] == [False, False, True]


async def test_a_modern_listener_is_granted_what_it_may_read(wire, member):
    for caller, granted in ((wire, ["moods://shared"]), (member, LISTEN["resourceSubscriptions"])):
        listening = caller.modern("subscriptions/listen", {"notifications": LISTEN})
        first = await listening.event()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["notifications"]["resourceSubscriptions"] == granted
        await listening.leave()


async def test_a_listener_hears_of_what_it_asked_for_under_its_id(wire, portal):
    listening = wire.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await listening.event()
    portal.running.changes.publish(Change("moods", "prompts"))
    portal.running.changes.publish(Change("moods", "tools"))
    told = await listening.event()
    assert told["method"] == "notifications/tools/list_changed"
    assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
    await listening.leave()


async def test_whoever_signs_in_amid_a_session_is_told_to_read_every_list_again(wire, moods):
    stranger = await wire.begin()
    stream = await stranger.send(method="GET").start()
    ann = moods.Wire(wire.portal, "members", stranger.session)
    assert "result" in await ann.call("secret", LEGACY).reply()
    assert await stream.events() == []
    for told in (["tools", "prompts", "resources"], []):
        stream = await ann.send(method="GET").start()
        for kind in told:
            assert (await stream.event())["method"] == f"notifications/{kind}/list_changed"
        await stream.leave()


async def test_there_is_a_last_place_for_streams(moods):
    config = {"limits": {"streams": {"total": 1}}}
    async with open_test_portal(moods, config=config, tiers=moods.TIERS) as portal:
        wire = moods.Wire(portal)
        listening = wire.modern("subscriptions/listen", {"notifications": {}})
        await listening.event()
        session = await wire.begin()
        for refused in (
            wire.modern("subscriptions/listen", {"notifications": {}}),
            session.send(b"", method="GET"),
        ):
            answer = await refused.start()
            assert (answer.status, answer.headers["retry-after"]) == (503, "5")
            error = (await answer.reply())["error"]
            assert "Try again later" in error["message"]
            assert error["data"] == {"retryAfterSeconds": 5}
        await listening.leave()
        again = wire.modern("subscriptions/listen", {"notifications": {}})
        assert (await again.event())["method"] == "notifications/subscriptions/acknowledged"
        await again.leave()


async def test_one_address_and_one_person_have_a_share_of_the_streams_each(moods):
    config = {"limits": {"streams": {"address": 1, "network": 2, "person": 1}}}
    async with open_test_portal(moods, config=config, tiers=moods.TIERS) as portal:

        def at(address: str, who: str = "open") -> Any:
            wire = moods.Wire(portal, who)
            wire.address = address
            return wire.modern("subscriptions/listen", {"notifications": {}})

        for address, who, status in (
            ("192.0.2.7", "open", 200),
            ("192.0.2.7", "open", 503),
            ("192.0.2.8", "open", 200),
            ("192.0.2.9", "open", 503),  # whoever has one address of a network has the others
            ("198.51.100.1", "open", 200),
            ("2001:db8:0:aa00::1", "open", 200),
            ("2001:db8:0:aa00:ffff::1", "open", 503),
            ("192.0.2.7", "members", 200),  # a person has a share, wherever they are
            ("198.51.100.2", "members", 503),
        ):
            answer = await at(address, who).start()
            assert (answer.status, address) == (status, address)
            if status == 503:
                assert "Close one first" in (await answer.reply())["error"]["message"]


async def test_a_reader_that_is_far_too_slow_is_let_go():
    outbox, own = Outbox(), push_stream.Feed()
    for _ in range(sse.MAX_WAITING_MESSAGES + 5):
        outbox.send({})
        own.send({})
    assert outbox.closed
    assert outbox.frames.qsize() == sse.MAX_WAITING_MESSAGES
    assert own.closed
    assert len(own._events) == sse.MAX_WAITING_MESSAGES


async def test_a_listener_that_was_let_go_gets_what_waited_and_then_the_end(wire, monkeypatch):
    monkeypatch.setattr(push_stream, "MAX_WAITING_MESSAGES", 3)
    listening = wire.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    await listening.event()
    for _ in range(5):
        for tell in list(wire.portal.running.changes._listeners.values()):
            tell(Change("moods", "tools"))
    *told, reply = await listening.events()
    assert 3 <= len(told) < 5
    assert "result" in reply


async def test_saving_the_tiers_is_told_and_holds_for_open_streams(moods):
    async with open_test_portal(moods, tiers="items: {moods: open}") as portal:
        wire = moods.Wire(portal)
        listening = wire.modern("subscriptions/listen", {"notifications": LISTEN})
        assert "moods://diary" in str(await listening.event())
        (portal.config_dir / "tiers.yaml").write_text("items: {moods: members}\n")
        told = await listening.event()
        assert told["method"] == "notifications/tools/list_changed"
        assert (await wire.modern("tools/list").reply())["result"]["tools"] == []
        portal.running.changes.publish(Change("moods", "resource", "moods://diary"))
        portal.running.changes.publish(Change("moods", "tools"))
        assert (await listening.event())["method"] == "notifications/tools/list_changed"
        await listening.leave()


async def test_streams_end_and_calls_finish_when_the_portal_stops(moods):
    async with open_test_portal(moods, tiers="default: open") as portal:
        wire = moods.Wire(portal)
        session = await wire.begin()
        legacy = session.send(b"", method="GET")
        await legacy.chunk()
        modern = wire.modern("subscriptions/listen", {"notifications": {}})
        await modern.event()
        orphan = session.call("pause", LEGACY, token=1)
        await orphan.event()
        await orphan.leave()
        portal.app.stopping()
        assert await legacy.events() == []
        assert "result" in await modern.reply()
        late = await wire.modern("subscriptions/listen", {"notifications": {}}).reply()
        assert "Try again in a moment" in late["error"]["message"]
    assert moods.paused == ["finished"]
