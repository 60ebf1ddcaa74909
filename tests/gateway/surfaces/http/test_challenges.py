"""How a client is asked to sign in: the sentence, the HTTP challenge, and the members' address."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from auth import Account, Tier
from gateway.config.addresses import is_mcp
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.testing import TestPortal, open_test_portal
from tests.journeys import garden

TIERS = {
    "access": {"public": {"any_of": ["signed_in"]}, "members": {"any_of": ["signed_in"]}},
    "default": "members",
    "items": {
        "garden": "members",
        "garden/look": "open",
        "garden/stumble": {"tier": "members", "hidden": True},
    },
}
SOON = datetime.now(UTC) + timedelta(days=1)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def portal(challenge: str | None = None, **sign_in: Any) -> Any:
    config = {"sign_in": sign_in | ({"challenge": challenge} if challenge else {})}
    return open_test_portal(garden, tiers=TIERS, config=config)


async def token(opened: TestPortal, ceiling: Tier) -> dict[str, str]:
    who = opened.running.authentication
    person = await who.accounts.sign_in(Account.of_key("0x" + "0" * 40))
    _, text = await who.api_tokens.create(person.id, "test", ceiling=ceiling, expires=SOON)
    return {"authorization": f"Bearer {text}"}


async def asked(
    opened: TestPortal,
    method: str,
    params: dict[str, Any],
    headers: dict[str, str] | None = None,
    path: str = "/mcp",
) -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": META}}
    named = {"mcp-name": params.get("name") or params.get("uri") or ""} if params else {}
    sent = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, **named, **(headers or {})}
    return await opened.http("open").post(path, json=message, headers=sent)


LINGER = {"name": "linger", "arguments": {"seconds": 0}}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", LINGER),
        ("prompts/get", {"name": "plan-season", "arguments": {}}),
        ("resources/read", {"uri": "garden://beds/north"}),
    ],
)
async def test_a_stranger_is_asked_to_sign_in_where_the_portal_challenges(
    method: str, params: dict[str, Any]
) -> None:
    async with portal() as opened:
        answer = await asked(opened, method, params)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        'Bearer scope="members", '
        'resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"'
    )
    assert answer.json()["id"] == 7
    assert answer.json()["error"]["message"].startswith("Requires members access. Current: open.")


async def test_by_http_every_token_with_too_narrow_a_scope_is_told_the_scope_it_needs() -> None:
    async with portal("http") as opened:
        answer = await asked(opened, "tools/call", LINGER, await token(opened, Tier.PUBLIC))
    assert answer.status_code == 403
    assert 'error="insufficient_scope", scope="members"' in answer.headers["www-authenticate"]


async def test_a_person_whom_no_scope_would_help_reads_the_sentence() -> None:
    tiers = TIERS | {"access": {"public": {"any_of": ["signed_in"]}}}
    config = {"sign_in": {"challenge": "http"}}
    async with open_test_portal(garden, tiers=tiers, config=config) as opened:
        answer = await asked(opened, "tools/call", LINGER, await token(opened, Tier.MEMBERS))
    assert answer.status_code == 200
    text = answer.json()["result"]["content"][0]["text"]
    assert text.startswith("Requires members access. Current: public. What members access takes")


async def test_what_is_hidden_is_unknown_and_never_challenged() -> None:
    async with portal() as opened:
        hidden = await asked(opened, "tools/call", {"name": "stumble", "arguments": {}})
        absent = await asked(opened, "tools/call", {"name": "absent", "arguments": {}})
    assert hidden.status_code == absent.status_code == 400
    assert "www-authenticate" not in hidden.headers
    said = [each.json()["error"]["message"] for each in (hidden, absent)]
    assert said == ["Unknown tool: stumble", "Unknown tool: absent"]


async def test_lists_and_open_tools_are_never_challenged() -> None:
    async with portal() as opened:
        listed = await asked(opened, "tools/list", {})
        called = await asked(opened, "tools/call", {"name": "look", "arguments": {"name": "north"}})
    assert listed.status_code == called.status_code == 200


async def told(opened: TestPortal, **headers: str) -> str:
    """What a stranger reads who calls a tool above their tier, where nobody is challenged."""
    answer = await asked(opened, "tools/call", LINGER, headers)
    assert answer.status_code == 200
    assert "www-authenticate" not in answer.headers
    text = str(answer.json()["result"]["content"][0]["text"])
    assert text.startswith("Requires members access. Current: ")
    return text


async def test_a_token_that_no_consent_widens_reads_the_sentence() -> None:
    async with portal() as opened:
        said = await told(opened, **await token(opened, Tier.PUBLIC))
    assert "This connection goes up to public" in said


async def test_where_nobody_can_sign_in_nobody_is_asked_to() -> None:
    async with portal(wallet={"enabled": False}) as opened:
        assert "Ask an admin" in await told(opened)


@pytest.mark.parametrize("client", ["python-httpx/0.28.1", "Go-http-client/1.1"])
@pytest.mark.parametrize("challenge", [None, "http"])
async def test_a_client_whom_a_401_costs_its_connection_reads_the_sentence(
    client: str, challenge: str | None
) -> None:
    async with portal(challenge) as opened:
        http = opened.http("open")
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "mcp", "version": "0.1.0"},
        }
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        begun = await http.post("/mcp", json=begin)
        headers = {"mcp-session-id": begun.headers["mcp-session-id"], "user-agent": client}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": LINGER}
        answer = await http.post("/mcp", json=call, headers=headers)
        assert (answer.status_code == 401) == (challenge == "http")
        assert "Requires members access. Current: open." in answer.text
        # In the newest revision errors come with statuses like this one: they are read.
        assert (
            await asked(opened, "tools/call", LINGER, {"user-agent": client})
        ).status_code == 401


@pytest.mark.parametrize(
    "message",
    [
        {"method": "tools/call", "params": LINGER},
        {"id": True, "method": "tools/call", "params": LINGER},
        {"id": {}, "method": "tools/call", "params": LINGER},
        {"id": 1, "method": ["tools/call"], "params": LINGER},
        {"id": 1, "method": "tools/call", "params": [LINGER]},
        {"id": 1, "method": "tools/call", "params": {"name": ["linger"]}},
        {"id": 1, "result": LINGER},
    ],
)
async def test_only_a_request_is_challenged(message: dict[str, Any]) -> None:
    async with portal("http") as opened:
        for version in ("2025-11-25", "2026-07-28"):
            answer = await opened.http("open").post(
                "/mcp",
                json={"jsonrpc": "2.0", **message},
                headers={"mcp-protocol-version": version},
            )
            assert answer.status_code in {202, 400}
            assert "www-authenticate" not in answer.headers


async def test_a_portal_may_answer_by_a_sentence_with_a_link_alone() -> None:
    async with portal("sentence") as opened:
        answer = await asked(opened, "tools/call", LINGER)
    assert answer.status_code == 200
    text = answer.json()["result"]["content"][0]["text"]
    assert text.startswith("Requires members access. Current: open. Sign in at http://")
    assert "/signin" in text
    assert "/members/mcp" in text


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_the_members_address_always_asks_for_a_sign_in(method: str) -> None:
    async with portal("sentence") as opened:
        answer = await opened.http("open").request(method, "/members/mcp")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        'Bearer scope="members", '
        'resource_metadata="http://localhost/.well-known/oauth-protected-resource/members/mcp"'
    )


async def test_the_members_address_serves_whoever_has_signed_in() -> None:
    async with portal("sentence") as opened:
        headers = await token(opened, Tier.MEMBERS)
        answer = await asked(opened, "tools/list", {}, headers, "/members/mcp")
    assert answer.status_code == 200
    assert "linger" in {each["name"] for each in answer.json()["result"]["tools"]}


@pytest.mark.parametrize("path", ["/mcp", "/members/mcp", "/mcp/garden"])
async def test_a_bad_token_is_refused_with_where_to_get_a_good_one(path: str) -> None:
    async with portal("sentence") as opened:
        answer = await asked(opened, "tools/list", {}, {"authorization": "Bearer porch_bad"}, path)
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer error="invalid_token"')
    assert f'/.well-known/oauth-protected-resource{path}"' in challenge


async def test_a_token_in_the_address_is_refused_and_not_used() -> None:
    async with portal("sentence") as opened:
        headers = await token(opened, Tier.MEMBERS)
        text = headers["authorization"].removeprefix("Bearer ")
        answer = await asked(opened, "tools/list", {}, path=f"/mcp?access_token={text}")
    assert answer.status_code == 401
    assert text not in answer.text


async def test_two_credentials_in_one_request_are_refused() -> None:
    async with portal("sentence") as opened:
        one, other = await token(opened, Tier.MEMBERS), await token(opened, Tier.PUBLIC)
        twice = [("authorization", each["authorization"]) for each in (one, other)]
        answer = await opened.http("open").post("/mcp", json={}, headers=twice)
    assert answer.status_code == 401
    assert "two credentials" in answer.json()["error"]["message"]


async def test_a_token_for_one_tool_lists_and_runs_that_tool_alone() -> None:
    async with portal("sentence") as opened:
        who = opened.running.authentication
        person = await who.accounts.sign_in(Account.of_key("0x" + "0" * 40))
        _, text = await who.api_tokens.create(
            person.id, "one", ceiling=Tier.MEMBERS, tools={"water"}, expires=SOON
        )
        headers = {"authorization": f"Bearer {text}"}
        listed = await asked(opened, "tools/list", {}, headers)
        prompts = await asked(opened, "prompts/list", {}, headers)
        ran = await asked(
            opened, "tools/call", {"name": "water", "arguments": {"name": "x"}}, headers
        )
        refused = await asked(opened, "tools/call", LINGER, headers)
        hidden = await asked(opened, "tools/call", {"name": "stumble", "arguments": {}}, headers)
    assert [each["name"] for each in listed.json()["result"]["tools"]] == ["water"]
    assert prompts.json()["result"]["prompts"] == []
    assert not ran.json()["result"].get("isError")
    assert refused.json()["result"]["content"][0]["text"].startswith(
        "This token may be used for water only."
    )
    assert hidden.json()["error"]["message"] == "Unknown tool: stumble"


@pytest.mark.parametrize(
    ("base", "path", "metadata"),
    [
        ("https://porch.example", "/mcp", "https://porch.example{}/mcp"),
        ("https://porch.example/at", "/mcp/kb", "https://porch.example{}/at/mcp/kb"),
        ("https://porch.example", "/api/v1/x", "https://porch.example{}"),
        ("https://porch.example", '/mcp/"\r\nx: y', "https://porch.example{}"),
    ],
)
def test_the_challenge_names_the_metadata_of_the_path(base: str, path: str, metadata: str) -> None:
    where = metadata.format("/.well-known/oauth-protected-resource")
    name, value = bearer_challenge(base, path)
    assert (name, value.decode()) == (b"www-authenticate", f'Bearer resource_metadata="{where}"')


def test_only_mcp_addresses_have_metadata_of_their_own() -> None:
    assert all(is_mcp(path) for path in ("/mcp", "/members/mcp", "/mcp/knowledge"))
    assert not any(is_mcp(path) for path in ("/", "/mcp/", "/mcp/a/b", "/members", "/api/v1/mcp"))
