"""What calls give, in both eras, over the real application."""

import json

import pytest

from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.conftest import Wire

ERAS = ["2026-07-28", "2025-11-25"]


@pytest.fixture(params=ERAS)
async def era(request):
    return request.param


@pytest.fixture
async def caller(wire, era):
    return wire if era == ERAS[0] else await wire.begin({"elicitation": {}, "sampling": {}})


@pytest.fixture
def ask(caller, era):
    """Send any request in the era."""
    return caller.modern if era == ERAS[0] else caller.legacy


async def test_a_tool_answers(caller, era):
    reply = await caller.call("echo", era, text="hello").reply()
    assert reply["result"]["content"] == [{"type": "text", "text": "hello"}]


async def test_wrong_arguments_are_an_error_that_the_model_reads(caller, era):
    result = (await caller.call("echo", era, number="many").reply())["result"]
    assert result["isError"] is True
    assert "number" in result["content"][0]["text"]


@pytest.mark.parametrize("tool", ["nothing", "unseen"])
async def test_an_unknown_tool_and_a_hidden_one_answer_alike(caller, era, tool):
    error = (await caller.call(tool, era).reply())["error"]
    assert error == {"code": -32602, "message": f"Unknown tool: {tool}", "data": {"name": tool}}


async def test_a_tool_above_the_tier_says_what_it_asks_for(caller, era):
    answer = await caller.call("secret", era).start()
    assert answer.status == 401
    assert 'Bearer scope="members", resource_metadata="' in answer.headers["www-authenticate"]
    error = (await answer.reply())["error"]
    assert error["message"].startswith("Requires members access. Current: open.")
    assert error["data"]["required"] == "members"


@pytest.mark.parametrize("tool", ["crash", "break_off"])
async def test_what_breaks_inside_stays_inside(caller, era, tool):
    answer = await caller.call(tool, era).start()
    text = json.dumps(await answer.reply())
    assert "-32603" in text
    assert answer.headers["x-request-id"] in text
    assert "hunter2" not in text
    assert "Traceback" not in text


async def test_a_tool_that_fails_after_progress_ends_its_stream_with_the_error(caller, era):
    answer = await caller.call("complain", era, token="t").start()
    progress, reply = await answer.events()
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-accel-buffering"] == "no"
    assert progress["params"] == {"progressToken": "t", "progress": 1, "total": 2}
    assert reply["result"]["isError"] is True


async def test_progress_only_grows_and_ends_with_the_call(caller, era):
    events = await caller.call("stutter", era, token=7).events()
    assert [event["params"]["progress"] for event in events[:-1]] == [1, 2]
    assert "result" in events[-1]


async def test_progress_is_not_sent_unasked(caller, era):
    assert len(await caller.call("stutter", era).events()) == 1


async def test_what_json_does_not_have_becomes_null(caller, era):
    result = (await caller.call("nan", era).reply())["result"]
    assert result["structuredContent"] == {"nan": None, "inf": None}


async def test_legacy_logs_follow_the_session_s_level(wire):
    session = await wire.begin()
    levels = [e["params"]["level"] for e in await _chatter(session)]
    assert levels == ["info", "error"]
    await session.legacy("logging/setLevel", {"level": "error"}).reply()
    assert [e["params"]["level"] for e in await _chatter(session)] == ["error"]


async def _chatter(session):
    events = await session.call("chatter", ERAS[1]).events()
    return [event for event in events if event.get("method") == "notifications/message"]


async def test_modern_logs_are_sent_where_the_request_asks_for_them(wire):
    level = {"io.modelcontextprotocol/logLevel": "debug"}
    params = {"name": "chatter", "arguments": {}}
    assert len(await wire.modern("tools/call", params, meta=level).events()) == 4
    assert len(await wire.modern("tools/call", params).events()) == 1


async def test_icons_and_annotations_are_listed(ask):
    tools = (await ask("tools/list").reply())["result"]["tools"]
    echo = next(tool for tool in tools if tool["name"] == "echo")
    assert echo["icons"][0]["src"] == "https://example.org/icon.png"
    assert echo["annotations"]["readOnlyHint"] is True


async def test_lists_show_what_the_caller_may_use(wire, member):
    for caller, names in ((wire, {"echo"}), (member, {"echo", "secret", "unseen"})):
        tools = (await caller.modern("tools/list").reply())["result"]["tools"]
        assert {tool["name"] for tool in tools} & {"echo", "secret", "unseen"} == names


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list"])
async def test_lists_are_private_to_the_caller(wire, method):
    result = (await wire.modern(method).reply())["result"]
    assert (result["cacheScope"], result["resultType"]) == ("private", "complete")
    assert result["ttlMs"] > 0


async def test_a_read_resource_is_private_whatever_its_plugin_says(wire):
    result = (await wire.modern("resources/read", {"uri": "moods://shared"}).reply())["result"]
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 5)


@pytest.mark.parametrize("cursor", ["", "x", "ZnJvbTow", "ZnJvbToyNTA=", "ZnJvbTox", "💥", " "])
async def test_a_cursor_that_was_not_given_out_is_refused(ask, cursor):
    assert (await ask("tools/list", {"cursor": cursor}).reply())["error"]["code"] == -32602


@pytest.mark.parametrize("uri", ["moods://nothing", "moods://unseen/1", "moods://thing/none"])
async def test_an_absent_resource_and_a_hidden_one_answer_alike(ask, era, uri):
    error = (await ask("resources/read", {"uri": uri}).reply())["error"]
    assert error["code"] == (-32602 if era == ERAS[0] else -32002)
    assert error["data"] == {"uri": uri}
    assert "{" not in error["message"]


@pytest.mark.parametrize(
    ("written", "meant"), [("a%2Fb", "a/b"), ("%C3%A9", "é"), ("a+b", "a+b"), ("..%2F..", "../..")]
)
async def test_a_template_s_variable_is_decoded(ask, written, meant):
    result = (await ask("resources/read", {"uri": f"moods://thing/{written}"}).reply())["result"]
    assert result["contents"][0]["text"] == f"<{meant}>"


async def test_a_template_s_variable_is_one_segment(ask):
    assert "error" in await ask("resources/read", {"uri": "moods://thing/a/b"}).reply()


def _complete(argument, typed="x"):
    ref = {"type": "ref/prompt", "name": "greet"}
    return {"ref": ref, "argument": {"name": argument, "value": typed}}


async def test_a_completion_holds_a_hundred_values_and_says_that_there_are_more(ask):
    result = (await ask("completion/complete", _complete("many")).reply())["result"]
    completion = result["completion"]
    assert (len(completion["values"]), completion["total"], completion["hasMore"]) == (
        100,
        150,
        True,
    )


async def test_an_argument_without_a_completer_has_no_completions(ask):
    result = (await ask("completion/complete", _complete("other")).reply())["result"]
    assert result["completion"]["values"] == []


async def test_a_completer_that_breaks_shows_nothing(ask):
    reply = await ask("completion/complete", _complete("broken")).reply()
    assert reply["error"]["code"] == -32603
    assert "hunter2" not in json.dumps(reply)


async def test_a_hidden_template_has_no_completions(ask):
    ref = {"type": "ref/resource", "uri": "moods://unseen/{id}"}
    params = {"ref": ref, "argument": {"name": "id", "value": ""}}
    assert (await ask("completion/complete", params).reply())["error"]["code"] == -32602


async def test_every_call_is_recorded_refused_or_not(caller, era, ask, recorded):
    await caller.call("echo", era, text="private words").reply()
    await caller.call("secret", era).reply()
    await caller.call("no\x00thing", era).reply()
    await caller.call("crash", era).reply()
    await ask("resources/read", {"uri": "moods://diary"}).reply()
    await ask("resources/read", {"uri": "moods://thing/private"}).reply()
    await ask("prompts/get", {"name": "greet"}).reply()
    await ask("completion/complete", _complete("many", "private")).reply()
    await ask("tools/list").reply()
    assert [(each.kind, each.item, each.outcome) for each in recorded] == [
        ("tool", "moods/echo", "ok"),
        ("tool", "moods/secret", "not_allowed"),
        ("tool", "no�thing", "not_found"),
        ("tool", "moods/crash", "internal_error"),
        ("resource", "moods/resource:moods://diary", "not_allowed"),
        ("template", "moods/resource:moods://thing/{id}", "ok"),
        ("prompt", "moods/prompt:greet", "ok"),
        ("completion", "moods/prompt:greet", "ok"),
    ]
    assert "private" not in repr(recorded)


async def test_made_up_names_make_no_metrics(wire, portal):
    for number in range(5):
        await wire.call(f"made-up-{number}").reply()
    text = portal.running.metrics.render().decode()
    assert "made-up" not in text
    assert 'item="unknown"' in text


async def test_a_second_round_goes_on_where_the_first_ended(wire):
    first = (await wire.call("two_rounds", topic="tea").reply())["result"]
    assert first["resultType"] == "input_required"
    params = {"name": "two_rounds", "arguments": {"topic": "tea"}}
    again = params | {"requestState": first["requestState"], "inputResponses": {}}
    result = (await wire.modern("tools/call", again).reply())["result"]
    assert result["content"][0]["text"] == "state-ok tea"


@pytest.mark.parametrize("change", ["arguments", "name", "caller", "state"])
async def test_a_state_is_good_for_its_own_request_and_caller_alone(wire, member, change, recorded):
    first = (await wire.call("two_rounds", topic="tea").reply())["result"]
    again = {"name": "two_rounds", "arguments": {"topic": "tea"}}
    again["requestState"] = first["requestState"] + ("x" if change == "state" else "")
    if change == "arguments":
        again["arguments"] = {"topic": "coffee"}
    if change == "name":
        again["name"] = "echo"
    sender = member if change == "caller" else wire
    answer = await sender.modern("tools/call", again).start()
    assert (answer.status, (await answer.reply())["error"]["code"]) == (400, -32602)
    assert recorded[-1].outcome == "bad_request_state"


async def test_a_legacy_client_is_told_that_a_second_round_needs_a_newer_one(wire):
    session = await wire.begin()
    result = (await session.call("two_rounds", ERAS[1]).reply())["result"]
    assert result["isError"] is True
    assert "2026-07-28" in result["content"][0]["text"]


async def test_server_discover_tells_what_the_portal_holds(wire):
    result = (await wire.modern("server/discover").reply())["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert "It holds moods." in result["instructions"]
    assert "secret" in result["instructions"]
    assert "unseen" not in result["instructions"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "porch"


async def test_what_is_said_of_a_tool_is_told_to_those_who_may_use_it(wire, member):
    told = [(await each.modern("server/discover").reply())["result"] for each in (wire, member)]
    assert all("Echoes are quick." in each["instructions"] for each in told)
    assert ["Few may know." in each["instructions"] for each in told] == [False, True]


async def test_a_plugin_of_which_a_caller_may_use_nothing_tells_them_nothing_of_itself(moods):
    async with open_test_portal(moods, tiers="default: members\n") as closed:
        for tier, is_told in (("open", False), ("members", True)):
            found = (await Wire(closed, tier).modern("server/discover").reply())["result"]
            assert ("It holds moods." in found["instructions"]) is is_told


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "nothing/there"])
async def test_the_older_era_does_not_know_newer_methods(wire, method):
    session = await wire.begin()
    reply = await session.legacy(method, {"notifications": {}}).reply()
    assert reply["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "nothing/there"])
async def test_the_newer_era_does_not_know_older_methods(wire, method):
    answer = await wire.modern(method, {}).start()
    assert (answer.status, (await answer.reply())["error"]["code"]) == (404, -32601)


async def test_a_modern_answer_never_names_a_session(wire):
    answer = await wire.modern("tools/list", headers={"mcp-session-id": "made-up"}).start()
    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers
