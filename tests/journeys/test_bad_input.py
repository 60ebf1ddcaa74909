"""Bad input of every kind: a clear error, never a traceback, and the portal serves on."""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

import httpx2
import pytest

from gateway.testing import RequestRefused, TestPortal, open_test_portal
from tests.journeys import garden
from tests.mcp_messages import INITIALIZE

HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    config = {"limits": {"body": "10KB"}}
    async with open_test_portal(garden, tiers="default: open\n", config=config) as opened:
        yield opened
        assert (await opened.call("look", {"name": "north"}, tier="open")).structured


async def post(portal: TestPortal, body: Any, **headers: str) -> httpx2.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await portal.http().post("/mcp", content=content, headers={**HEADERS, **headers})


async def test_wrong_arguments_are_told_to_the_model(portal: TestPortal) -> None:
    result = await portal.call("look", {"nam": "north"})
    assert result.is_error
    assert result.text.startswith("Invalid arguments. ")
    assert "name: is required" in result.text
    assert "nam: there is no such argument; did you mean name?" in result.text


async def test_a_tool_s_own_failure_is_told_to_the_model(portal: TestPortal) -> None:
    result = await portal.call("look", {"name": "west"})
    assert result.is_error
    assert result.text == "There is no bed 'west'."
    error = json.loads(result.content[1]["text"])["error"]
    assert error["code"] == "not_found"
    assert error["details"] == {"beds": ["north", "south"]}


async def test_an_unexpected_error_shows_its_request_id_and_nothing_else(
    portal: TestPortal,
) -> None:
    with pytest.raises(
        RequestRefused, match=r"Tell the admin the request id [0-9a-f]{16}"
    ) as error:
        await portal.call("stumble")
    assert "swordfish" not in str(error.value) + str(error.value.data)


async def test_an_unknown_tool_is_named(portal: TestPortal) -> None:
    with pytest.raises(RequestRefused, match="Unknown tool: dig") as refused:
        await portal.call("dig")
    assert refused.value.code == -32602


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 5000, -32700),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    ],
)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_what_is_no_json_rpc_is_a_400_with_its_code(
    portal: TestPortal, body: bytes, code: int, version: str
) -> None:
    answer = await post(portal, body, **{"mcp-protocol-version": version})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


async def test_an_unknown_protocol_version_is_told_which_are_known(portal: TestPortal) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {"mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list"}
    answer = await post(portal, message, **headers)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == -32022
    assert "2026-07-28" in error["data"]["supported"]


async def test_an_unknown_version_in_a_handshake_is_answered_with_a_known_one(
    portal: TestPortal,
) -> None:
    asked = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "2099-01-01"}}
    answer = await post(portal, asked)
    assert answer.json()["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"host": "evil.example"}, 421, "foreign_host"),
        ({"host": "localhost.evil.example:80"}, 421, "foreign_host"),
        ({"origin": "https://evil.example"}, 403, "foreign_origin"),
        ({"origin": "null"}, 403, "foreign_origin"),
    ],
)
async def test_a_foreign_host_or_origin_is_turned_away(
    portal: TestPortal, headers: dict[str, str], status: int, code: str
) -> None:
    answer = await post(portal, INITIALIZE, **headers)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


async def test_a_body_over_the_limit_is_a_413(portal: TestPortal) -> None:
    message = {**INITIALIZE, "params": {"fill": "x" * 20_000}}
    assert (await post(portal, message)).status_code == 413


async def test_a_body_that_is_not_json_by_its_type_is_a_415(portal: TestPortal) -> None:
    assert (await post(portal, INITIALIZE, **{"content-type": "text/plain"})).status_code == 415


@pytest.mark.parametrize("credential", ["Bearer wrong", "Basic abc", "Bearer "])
@pytest.mark.parametrize("path", ["/mcp", "/api/v1/garden/beds/north", "/hooks/garden/weather"])
async def test_a_bad_token_is_a_401_and_never_a_step_down(
    portal: TestPortal, credential: str, path: str
) -> None:
    answer = await portal.http().post(path, headers={"authorization": credential})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_webhook_with_a_bad_signature_is_a_403(portal: TestPortal) -> None:
    body = b'{"rain": true}'
    good = hmac.new(garden.KEY, body, sha256).hexdigest()
    taken = await portal.hook("garden", "weather", body, {"x-signature": good})
    changed = await portal.hook("garden", "weather", body + b" ", {"x-signature": good})
    assert taken.json() == {"bytes": len(body)}
    assert changed.status_code == 403


async def test_an_address_that_leads_nowhere_is_a_404_with_a_request_id(
    portal: TestPortal,
) -> None:
    answer = await portal.get("/nowhere")
    assert answer.status_code == 404
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
