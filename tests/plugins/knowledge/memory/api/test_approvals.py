"""Requests that wait for a person, over HTTP: who sees them, who decides, and what it says then."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any

import pytest

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from plugins.knowledge.memory.api.errors import ErrorResponse
from plugins.knowledge.memory.model.errors import ErrorCode
from tests.gateway.surfaces.pages.browser import Browser

pytestmark = pytest.mark.anyio
OWN = PREFIXES[0]
TIERS = {"access": {"members": "signed_in"}, "items": {"knowledge": "public"}}
each_prefix = pytest.mark.parametrize("prefix", PREFIXES)


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    """The portal, where whoever signs in with a browser may approve."""
    async with open_test_portal(plugin, tiers=TIERS) as opened:
        yield opened


async def ask(
    portal: TestPortal,
    content: str = "The gate opens at nine.",
    policy: str = "public",
    approved_users: Sequence[str] = (),
) -> tuple[str, str]:
    """Ask for an entry, as somebody who is signed in: the request's id, and the entry's."""
    sent = {
        "entry": {"content": content},
        "options": {"access_policy": {"policy": policy, "approved_users": list(approved_users)}},
        "governance": {"require_approval": True},
    }
    made = (await portal.http("public").post(f"{OWN}/create", json=sent)).json()
    assert made["status"] == "pending_approval"
    return made["approval_required"]["request_id"], made["entry"]["id"]


async def get(portal: TestPortal, path: str, tier: str = "members") -> Any:
    answer = await portal.http(tier).get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refusal(portal: TestPortal, method: str, path: str, tier: str) -> tuple[int, int, str]:
    answer = await portal.http(tier).request(method, path)
    said = ErrorResponse.model_validate_json(answer.content).error
    return answer.status_code, said.code, said.message


@each_prefix
async def test_a_person_rejects_and_the_answer_says_who_and_when(
    portal: TestPortal, prefix: str
) -> None:
    request, entry = await ask(portal)
    (waiting,) = (await get(portal, f"{prefix}/approvals"))["approvals"]
    assert (waiting["id"], waiting["entry"], waiting["state"]) == (request, entry, "pending")
    assert waiting["content"] == "The gate opens at nine."
    assert await get(portal, f"{prefix}/approvals/{request}") == waiting
    answer = await portal.http("members").post(
        f"{prefix}/approvals/{request}/reject", json={"note": "Asked the gardener."}
    )
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["state"], told["note"]) == ("rejected", "Asked the gardener.")
    assert told["decided_by"] != told["requested_by"] == waiting["requested_by"]
    assert datetime.fromisoformat(told["decided_at"]) >= datetime.fromisoformat(
        told["requested_at"]
    )
    own = await get(portal, f"{prefix}/approvals/{request}", "public")
    assert (own["state"], own["decided_by"]) == ("rejected", told["decided_by"])
    assert (await portal.http("members").get(f"{prefix}/{entry}/metadata")).status_code == 404
    again = await refusal(portal, "POST", f"{prefix}/approvals/{request}/reject", "public")
    assert again[:2] == (409, ErrorCode.CONFLICT)
    late = await refusal(portal, "POST", f"{prefix}/approvals/{request}/approve", "public")
    assert late[:2] == (409, ErrorCode.CONFLICT)


@each_prefix
async def test_no_token_approves_and_the_answer_says_where_a_person_does(
    portal: TestPortal, prefix: str
) -> None:
    request, entry = await ask(portal)
    path = f"/approvals/knowledge/{request}"
    for token in ("members", "public"):
        answer = await portal.http(token).post(f"{prefix}/approvals/{request}/approve", json={})
        said = ErrorResponse.model_validate_json(answer.content).error
        assert (answer.status_code, said.code) == (403, ErrorCode.GOVERNANCE_DENIED)
        assert said.details == {"page": path}
        assert path in said.message
    assert (await get(portal, f"{prefix}/approvals/{request}"))["state"] == "pending"
    assert (await portal.http("members").get(f"{prefix}/{entry}/metadata")).status_code == 404
    browser = Browser(portal.app, "http://127.0.0.1:8321")
    await browser.sign_in(next_page=path)
    await browser.submit(path, {"answer": "approve"})
    await browser.aclose()
    own = await get(portal, f"{prefix}/approvals/{request}", "public")
    assert own["state"] == "approved"
    assert (await portal.http("members").get(f"{prefix}/{entry}/metadata")).status_code == 200


async def test_requests_come_by_state_and_in_pages(portal: TestPortal) -> None:
    ids = [(await ask(portal, f"Gate {n}."))[0] for n in range(4)]
    await portal.http("members").post(f"{OWN}/approvals/{ids[1]}/reject", json={})
    page = await get(portal, f"{OWN}/approvals?state=pending&limit=2", "public")
    assert ([each["id"] for each in page["approvals"]], page["total"]) == ([ids[3], ids[2]], 3)
    page = await get(portal, f"{OWN}/approvals?state=pending&limit=2&offset=2", "public")
    assert [each["id"] for each in page["approvals"]] == [ids[0]]
    page = await get(portal, f"{OWN}/approvals?state=rejected", "public")
    assert [each["id"] for each in page["approvals"]] == [ids[1]]


async def test_nobody_approves_their_own_and_who_may_not_decide_sees_nothing(
    portal: TestPortal,
) -> None:
    request, _ = await ask(portal)
    at = f"{OWN}/approvals/{request}"
    own = await refusal(portal, "POST", f"{at}/approve", "public")
    assert own[:2] == (403, ErrorCode.GOVERNANCE_DENIED)
    ben = (await portal.sign_in("ben")).id
    hidden, _ = await ask(portal, "For Ben and me.", "restricted", approved_users=[ben])
    for method, path in (("GET", ""), ("POST", "/approve"), ("POST", "/reject")):
        told = [
            await refusal(portal, method, f"{OWN}/approvals/{id}{path}", "members")
            for id in (hidden, "appr_none")
        ]
        assert told[0] == told[1]
        assert told[0][:2] == (404, ErrorCode.NOT_FOUND)
        nobody = await refusal(portal, method, f"{OWN}/approvals/{request}{path}", "open")
        assert nobody[:2] == (401, ErrorCode.UNAUTHORIZED)
    taken_back = await portal.http("public").post(f"{OWN}/approvals/{hidden}/reject")
    assert taken_back.json()["state"] == "rejected"


async def test_an_agent_has_many_long_requests_in_pages_and_each_by_its_id(
    portal: TestPortal,
) -> None:
    said = "lorem ipsum " * 700
    ids = [(await ask(portal, f"Report {n}. {said}"))[0] for n in range(15)]
    agent, listed = portal.mcp("members"), []
    more: dict[str, str] | None = {}
    while more is not None:
        answer = (await agent.call("list_approvals", more))["structuredContent"]
        assert len(json.dumps(answer)) < 15_000
        assert all(each["length"] > 8000 for each in answer["data"])
        listed += [each["id"] for each in answer["data"]]
        pages = answer.get("pagination", {})
        more = {"cursor": pages["cursor"]} if pages.get("hasMore") else None
    assert listed == ids[::-1]
    one = (await agent.call("list_approvals", {"id": ids[3]}))["structuredContent"]
    assert [each["content"] for each in one["data"]] == [f"Report 3. {said}"]
