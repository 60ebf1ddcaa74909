"""The assistant answers over its API: with calls and sources, in few steps, each one metered."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from gateway.contract import ModelFailed
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.assistant.garden import (
    CHAT,
    LOOK,
    TIERS,
    Garden,
    ask,
    chat_of,
    kinds,
    open_garden,
    said,
)
from tests.servers.openai_compatible import (
    OpenAICompatible,
    Reply,
    ToolCall,
    failing,
    page,
    throttled,
)


async def test_an_answer_comes_with_its_calls_and_their_sources(
    portal: TestPortal, server: OpenAICompatible, garden: Garden
) -> None:
    server.then(LOOK, Reply(text="By consent, at the fire."))
    events, chat = await ask(portal, "How are decisions made?")
    assert said(events) == "By consent, at the fire."
    assert kinds(events)[0] == "start"
    assert kinds(events)[-2:] == ["finish", "[DONE]"]
    (source,) = [each.data for each in events if each.kind == "source-url"]
    assert source["url"] == "https://garden.example.org/decide"
    assert source["title"] == "How we decide"
    assert garden.looked == ["decide"]
    (turn,) = chat["turns"]
    assert (turn["state"], turn["question"]) == ("done", "How are decisions made?")
    assert [each["kind"] for each in turn["parts"]] == ["call", "text"]
    assert "by consent" in server.asked[1].texts()


async def test_what_was_said_before_is_known_and_other_peoples_is_not(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    server.then(Reply(text="The baker."), Reply(text="At dawn."), Reply(text="Nobody."))
    _, chat = await ask(portal, "Who bakes?")
    await ask(portal, "And when?", chat["id"])
    assert "The baker." in server.asked[1].texts()
    await ask(portal, "What did I ask?", who="bob")
    assert "bakes" not in server.asked[2].texts()


async def test_an_answer_takes_five_steps_at_most_and_the_last_has_no_tools(
    portal: TestPortal, server: OpenAICompatible, garden: Garden
) -> None:
    def look_while_there_are_tools(body: Any) -> Reply:
        if not body.get("tools"):
            return Reply(text="That is all.")
        number = len(server.asked)
        return Reply(calls=[ToolCall("look", {"query": f"{number}"}, f"call_{number}")])

    server.rule(look_while_there_are_tools)
    events, chat = await ask(portal, "Look for ever")
    assert said(events) == "That is all."
    assert len(server.asked) == 5
    assert len(garden.looked) == 4
    assert chat["turns"][0]["state"] == "done"


async def test_a_tool_that_fails_is_told_to_the_model_which_goes_on(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    server.then(Reply(calls=[ToolCall("look", {}, "call_1")]), Reply(text="I cannot look."))
    events, chat = await ask(portal, "Look")
    assert "tool-output-error" in kinds(events)
    assert chat["turns"][0]["state"] == "done"
    assert chat["turns"][0]["parts"][0]["state"] == "failed"
    assert "query" in server.asked[1].texts()


async def test_each_request_to_the_model_is_metered_once_for_who_asked(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    from gateway.services.models.table import model_calls

    server.then(LOOK, Reply(text="So."))
    person = await portal.sign_in("cy")
    await ask(portal, "How?", who="cy")
    async with portal.running.services.shared_database.engine.connect() as connection:
        rows = list(await connection.execute(select(model_calls)))
    assert [(each.person, each.role, each.outcome) for each in rows] == [
        (person.id, "chat", "ok")
    ] * 2
    assert sum(each.tokens_in for each in rows) == server.billed["prompt_tokens"]


async def test_a_budget_ends_it_in_time_and_says_so(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    class Spent:
        async def before_call(self, caller: Any, call: Any) -> None:
            if server.asked:
                raise ModelFailed("budget_reached", "Monthly model budget reached.")

        async def after_call(self, call: Any, end: Any) -> None:
            pass

    portal.running.services.models.budget = Spent()
    server.then(LOOK, Reply(text="never"))
    events, chat = await ask(portal, "How?")
    assert kinds(events)[-2:] == ["error", "[DONE]"]
    assert events[-2].data["errorText"] == "Monthly model budget reached."
    assert chat["turns"][0]["error"]["code"] == "budget_reached"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "reply",
    [failing(503, "down", "Down."), throttled(), page(), Reply(text="half of it " * 40, cut=500)],
    ids=["down", "throttled", "html", "cut"],
)
async def test_a_provider_that_fails_ends_the_answer_and_it_can_go_on(
    portal: TestPortal, server: OpenAICompatible, reply: Reply
) -> None:
    server.then(reply)
    events, chat = await ask(portal, "How?")
    assert kinds(events)[-2:] == ["error", "[DONE]"]
    assert chat["turns"][0]["state"] == "failed"
    assert chat["turns"][0]["error"]["message"]
    portal.running.services.models.engine.providers["local"].throttled(-1e9)
    server.then(Reply(text="Now it works."))
    again = await portal.http("ann").post(
        f"{CHAT}/{chat['id']}/continue", headers={"accept": "text/event-stream"}
    )
    assert "works." in again.text
    assert (await chat_of(portal, chat["id"]))["turns"][0]["state"] == "done"


async def test_secrets_in_a_message_are_kept_nowhere(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server.then(Reply(text="Fine."))
    _, chat = await ask(portal, f"My token is {secret}")
    assert secret not in str(chat)
    assert secret not in server.asked[0].texts()


async def test_a_message_of_a_megabyte_is_refused_clearly(portal: TestPortal) -> None:
    http = portal.http("ann")
    large = await http.post(CHAT, json={"message": "a" * 1_000_000})
    assert large.status_code == 413
    long = await http.post(CHAT, json={"message": "a" * 16_001})
    assert long.status_code == 413
    assert "16,001 characters; 16,000 are taken" in long.json()["error"]["message"]
    for wrong in ({"message": "  "}, {"message": 1}, {}, {"message": "a", "more": 1}):
        assert (await http.post(CHAT, json=wrong)).status_code == 422
    assert (await http.get(CHAT)).json() == {"conversations": []}


async def test_a_conversation_is_listed_renamed_exported_and_deleted_by_its_person_alone(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    server.then(LOOK, Reply(text="By **consent**."))
    _, chat = await ask(portal, "How are decisions made?")
    ann, bob, path = portal.http("ann"), portal.http("bob"), f"{CHAT}/{chat['id']}"
    assert [each["id"] for each in (await ann.get(CHAT)).json()["conversations"]] == [chat["id"]]
    assert (await bob.get(CHAT)).json() == {"conversations": []}
    nobody = portal.http("open")
    for way, at, body in (
        ("GET", path, None),
        ("GET", path + "/stream", None),
        ("GET", path + "/export", None),
        ("PATCH", path, {"title": "mine"}),
        ("POST", path + "/messages", {"message": "hello"}),
        ("POST", path + "/stop", None),
        ("POST", path + "/continue", None),
        ("DELETE", path, None),
    ):
        theirs = await bob.request(way, at, json=body)
        unknown = await bob.request(way, at.replace(chat["id"], "chat_none"), json=body)
        assert theirs.status_code == unknown.status_code == 404, (way, at)
        assert (await nobody.request(way, at, json=body)).status_code == 401
    assert (await ann.patch(path, json={"title": "Deciding"})).json()["title"] == "Deciding"
    text = (await ann.get(path + "/export")).text
    assert text.startswith("# Deciding\n")
    assert "By **consent**." in text
    assert "[How we decide](https://garden.example.org/decide)" in text
    whole = (await ann.get(path + "/export?format=json")).json()
    assert whole["turns"] == chat["turns"]
    assert (await ann.get(path + "/export?format=pdf")).status_code == 422
    assert (await ann.delete(path)).status_code == 204
    assert (await ann.get(path)).status_code == 404


async def test_without_a_model_there_is_no_assistant_and_nothing_of_it() -> None:
    async with open_test_portal(Garden().module(), tiers=TIERS) as portal:
        await portal.sign_in("ann")
        for path in ("/chat", "/chat/chat_1", CHAT):
            assert (await portal.http("ann").get(path)).status_code == 404
        assert "/chat" not in (await portal.http("open").get("/")).text


PLANS = "plans: {free: {title: Free, budget: 1.00}}\ndefault: free\n"


async def test_the_budget_left_is_shown_and_told_to_the_model(server: OpenAICompatible) -> None:
    price = {"m": {"input": 1000, "output": 1000}}
    provider = {"kind": "compatible", "url": server.url, "prices": price}
    config = {"services": {"models": {"providers": {"local": provider}, "chat": "local/m"}}}
    async with open_garden(server, config=config, plans=PLANS) as portal:
        server.then(Reply(text="So."))
        await ask(portal, "How?")
        assert "$1.00 of $1.00 are left" in server.asked[0].texts()
        told = (await portal.http("ann").get(CHAT)).json()["budget"]
        assert told["limit"] == "$1.00"
        assert told["left"] != "$1.00"
        server.then(Reply(text="So."))
        await ask(portal, "And?")
        assert f"{told['left']} of $1.00 are left" in server.asked[1].texts()


async def test_without_plans_nobody_speaks_of_a_budget(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    server.then(Reply(text="So."))
    await ask(portal, "How?")
    assert "budget" not in server.asked[0].texts()
    assert set((await portal.http("ann").get(CHAT)).json()) == {"conversations"}
