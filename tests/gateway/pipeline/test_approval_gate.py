"""A tool that waits runs once somebody has said yes to this very call, and once for each yes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.approvals.store import MAX_WAITING
from gateway.pipeline.approval_gate import MAX_QUESTION_CHARACTERS
from tests.gateway.approvals.portal import FORMS, PAYMENT, TIERS, Treasury, open_treasury


@pytest.fixture(scope="module")
async def shared() -> AsyncGenerator[Treasury]:
    async with open_treasury() as treasury:
        yield treasury


@pytest.fixture
def treasury(shared: Treasury) -> Treasury:
    """The same portal, whose vault has paid nothing."""
    shared.vault.paid.clear()
    shared.vault.broken = False
    return shared


def paying(text: str) -> dict[str, Any]:
    """Arguments of a test's own."""
    return {"to": text, "amount": 1}


# The four cases of envoy ai-gateway#2073, in their order.


async def test_the_same_call_resumes_and_runs_once(treasury: Treasury) -> None:
    arguments = paying("the same")
    id = await treasury.asked(arguments=arguments)
    assert treasury.paid == 0
    assert await treasury.asked(arguments=arguments) == id  # asking again is the same request
    assert await treasury.say("bob", id) == "approved"
    assert (await treasury.call(arguments=arguments))[0] == "ran"
    assert treasury.paid == 1
    assert await treasury.asked(arguments=arguments) != id  # what runs again asks again
    assert treasury.paid == 1


async def test_other_arguments_do_not_run_by_it(treasury: Treasury) -> None:
    id = await treasury.asked(arguments=paying("first"))
    await treasury.say("bob", id)
    others = (paying("second"), {**paying("first"), "note": ""}, {**paying("first"), "amount": 2})
    for changed in others:
        assert (await treasury.call(arguments=changed))[0] == "approval_needed"
    assert treasury.paid == 0


async def test_another_rule_or_a_later_time_does_not_run_by_it() -> None:
    async with open_treasury() as treasury:
        await treasury.say("bob", await treasury.asked())
        store = treasury.portal.running.approvals.store
        now = store.clock
        store.clock = lambda: datetime.now(UTC) + timedelta(hours=2)
        assert (await treasury.call())[0] == "approval_needed"
        store.clock = now
        other = TIERS.replace("QUORUM", "1").replace("expires: 1h", "expires: 2h")
        (treasury.portal.config_dir / "tiers.yaml").write_text(other)
        version = treasury.portal.running.catalog.version
        async with asyncio.timeout(10):
            while treasury.portal.running.catalog.version == version:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (await treasury.call())[0] == "approval_needed"
        assert treasury.paid == 0
        async with asyncio.timeout(10):
            while "void" not in {each.state for each in await store.every()}:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_request_that_nobody_answers_ends_and_the_record_says_which() -> None:
    async with open_treasury() as treasury:
        id = await treasury.asked()
        running = treasury.portal.running
        running.approvals.store.clock = lambda: datetime.now(UTC) + timedelta(hours=2)
        await running.approvals._keep_up()
        records = [each for each in await running.audit.read() if each.request_id == id]
        assert [each.outcome for each in records] == ["expired", "asked"]
        assert {each.item for each in records} == {"vault/pay"}


# Who says yes.


async def test_nobody_says_yes_to_their_own_call(treasury: Treasury) -> None:
    id = await treasury.asked(arguments=paying("me"))
    with pytest.raises(Exception, match="Nobody says yes to their own call"):
        await treasury.say("ann", id)
    assert (await treasury.call(arguments=paying("me")))[0] == "approval_needed"


async def test_somebody_elses_call_does_not_run_by_it(treasury: Treasury) -> None:
    arguments = paying("hers")
    await treasury.say("bob", await treasury.asked("ann", arguments=arguments))
    assert (await treasury.call("cy", arguments=arguments))[0] == "approval_needed"
    assert (await treasury.call("bob", arguments=arguments))[0] == "approval_needed"
    assert treasury.paid == 0


async def test_a_quorum_takes_different_people() -> None:
    async with open_treasury(quorum=2) as treasury:
        id = await treasury.asked()
        assert await treasury.say("bob", id) == "waiting"
        with pytest.raises(Exception, match="said yes already"):
            await treasury.say("bob", id)
        code, details = await treasury.call()
        assert (code, details["given"], details["quorum"]) == ("approval_needed", 1, 2)
        assert await treasury.say("cy", id) == "approved"
        assert (await treasury.call())[0] == "ran"


async def test_a_refusal_holds_and_says_why(treasury: Treasury) -> None:
    arguments = paying("no")
    id = await treasury.asked(arguments=arguments)
    await treasury.say("bob", id)
    assert await treasury.say("cy", id, yes=False, note="Not this month.") == "refused"
    answer = await treasury.portal.call("pay", arguments, tier="ann")
    assert answer.is_error
    assert "Not this month." in answer.text
    assert (await treasury.call(arguments=arguments))[0] == "approval_refused"
    assert treasury.paid == 0


async def test_who_takes_back_what_they_asked_for_may_ask_again(treasury: Treasury) -> None:
    arguments = paying("oops")
    id = await treasury.asked(arguments=arguments)
    await treasury.say("ann", id, yes=False)
    assert await treasury.asked(arguments=arguments) != id


async def test_whoever_has_not_signed_in_is_told_to(treasury: Treasury) -> None:
    answer = await treasury.portal.call("pay", PAYMENT, tier="open")
    assert answer.is_error
    assert answer.text.startswith("Requires members access.")


# Where a call may come from.


async def test_what_fails_takes_a_new_yes(treasury: Treasury) -> None:
    arguments = paying("broken")
    await treasury.say("bob", await treasury.asked(arguments=arguments))
    treasury.vault.broken = True
    assert (await treasury.call(arguments=arguments))[0] == "broken"
    treasury.vault.broken = False
    assert (await treasury.call(arguments=arguments))[0] == "approval_needed"


async def test_bad_arguments_bother_nobody(treasury: Treasury) -> None:
    code, _ = await treasury.call(arguments={"to": "x"})
    assert code == "invalid_arguments"


async def test_a_tool_that_calls_it_for_somebody_waits_as_they_would(treasury: Treasury) -> None:
    arguments = {**paying("inner"), "note": ""}
    id = await treasury.asked(tool="through", arguments=arguments)
    await treasury.say("bob", id)
    assert (await treasury.call(tool="through", arguments=arguments))[0] == "ran"
    assert (await treasury.call(tool="through", arguments=arguments))[0] == "approval_needed"
    assert treasury.paid == 1


async def test_call_tool_is_no_way_around(treasury: Treasury) -> None:
    inner = {"name": "pay", "arguments": paying("around")}
    code, _ = await treasury.call(tool="call_tool", arguments=inner)
    assert code == "approval_needed"
    assert treasury.paid == 0


async def test_over_rest_it_is_the_same_with_a_status(treasury: Treasury) -> None:
    http, body = treasury.portal.http("ann"), paying("rest")
    waits = await http.post("/api/v1/vault/pay", json=body)
    error = waits.json()["error"]
    assert (waits.status_code, error["code"]) == (409, "approval_needed")
    assert error["details"]["url"].endswith(f"/approvals/{error['details']['approval']}")
    await treasury.say("bob", error["details"]["approval"])
    # The same words over MCP are another call: a route may mean something else by them.
    assert (await treasury.call(arguments=body))[0] == "approval_needed"
    assert (await http.post("/api/v1/vault/pay", json=body)).status_code == 200
    again = await http.post("/api/v1/vault/pay", json=body)
    assert again.status_code == 409
    await treasury.say("bob", again.json()["error"]["details"]["approval"], yes=False)
    refused = await http.post("/api/v1/vault/pay", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "approval_refused")
    assert treasury.paid == 1
    document = (await http.get("/api/v1/openapi.json")).json()
    assert "409" in document["paths"]["/vault/pay"]["post"]["responses"]


async def test_nobody_buries_others_under_requests(treasury: Treasury) -> None:
    codes = {
        (await treasury.call("cy", arguments=paying(f"{n}")))[0] for n in range(MAX_WAITING + 1)
    }
    assert codes == {"approval_needed", "approvals_waiting"}


async def test_a_secret_is_neither_kept_nor_shown(treasury: Treasury) -> None:
    secret = "ghp_" + "x7Kd2mQ9vT4wZ8rB1nL6pF3hJ5sC0yGaE4uX"[:36]
    id = await treasury.asked(arguments={**paying("whoever has it"), "note": f"key {secret}"})
    kept = await treasury.portal.running.approvals.store.get(id)
    assert kept is not None
    assert kept.arguments is not None
    assert secret not in str(kept)


# The caller's own person, in their client (2026-07-28).


async def confirm(treasury: Treasury, text: str, **more: Any) -> dict[str, Any]:
    params = {"name": "confirm", "arguments": paying(text), **more}
    return await treasury.client(**FORMS).request("tools/call", params)


def answered(asked: dict[str, Any], action: str = "accept", yes: bool = True) -> dict[str, Any]:
    (key,) = asked["inputRequests"]
    return {key: {"action": action, "content": {"approve": yes}}}


async def test_a_client_asks_its_person_and_comes_again_with_the_yes(treasury: Treasury) -> None:
    asked = await confirm(treasury, "asked")
    (question,) = asked["inputRequests"].values()
    assert question["method"] == "elicitation/create"
    assert '"to": "asked"' in question["params"]["message"]
    yes = answered(asked)
    second = await confirm(treasury, "asked", inputResponses=yes)
    assert "word" in second["inputRequests"]  # the tool's own question, of a second round
    word = {"word": {"action": "accept", "content": {"word": "please"}}}
    last = {"requestState": second["requestState"], "inputResponses": word}
    paid = await confirm(treasury, "asked", **last)
    assert paid["structuredContent"] == paying("asked")
    # Neither the answer nor the last round does it again.
    assert "inputRequests" in await confirm(treasury, "asked", inputResponses=yes)
    assert "inputRequests" in await confirm(treasury, "asked", **last)
    assert treasury.paid == 1


async def test_an_answer_is_for_the_arguments_that_were_shown(treasury: Treasury) -> None:
    yes = answered(await confirm(treasury, "little"))
    other = await confirm(treasury, "much", inputResponses=yes)
    assert answered(other).keys() != yes.keys()
    hers = {"name": "confirm", "arguments": paying("little"), "inputResponses": yes}
    theirs = await treasury.client("bob", **FORMS).request("tools/call", hers)
    assert answered(theirs).keys() != yes.keys()
    assert treasury.paid == 0


@pytest.mark.parametrize(
    ("action", "yes", "code"),
    [
        ("decline", True, "approval_refused"),
        ("accept", False, "approval_refused"),
        ("cancel", True, "approval_needed"),
    ],
)
async def test_any_other_answer_is_no_yes(
    treasury: Treasury, action: str, yes: bool, code: str
) -> None:
    said = answered(await confirm(treasury, action), action, yes)
    result = await confirm(treasury, action, inputResponses=said)
    assert result["isError"]
    assert f'"code":"{code}"' in result["content"][1]["text"]


async def test_a_client_that_cannot_ask_is_told_where_its_person_says_yes(
    treasury: Treasury,
) -> None:
    code, details = await treasury.call(tool="confirm", arguments=paying("page"))
    assert code == "approval_needed"
    yes = {"action": "accept", "content": {"approve": True}}
    forged = {f"porch/approve/{details['approval']}": yes}
    again = await confirm(treasury, "page", inputResponses=forged)
    assert "structuredContent" not in again
    # It was never asked in a client, so no client answers it: the person does, on the page.
    assert await treasury.say("ann", details["approval"]) == "approved"


async def test_what_is_too_long_for_a_question_is_shown_on_the_page(treasury: Treasury) -> None:
    long = await confirm(treasury, "x" * (MAX_QUESTION_CHARACTERS + 1))
    assert long["isError"]
    assert "approval_needed" in long["content"][1]["text"]


async def test_a_question_hides_nothing_behind_what_cannot_be_seen(treasury: Treasury) -> None:
    asked = await confirm(treasury, "ann\u202enotna")
    (question,) = asked["inputRequests"].values()
    assert "[U+202E]" in question["params"]["message"]


async def test_a_list_of_tools_says_what_waits(treasury: Treasury) -> None:
    tools = await treasury.portal.tools("ann")
    assert "waits for the yes of somebody else (sign in)" in tools["pay"]["description"]
    assert "waits for your person's yes" in tools["confirm"]["description"]
    assert "waits" not in tools["look"]["description"]
