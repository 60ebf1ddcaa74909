"""What pages of other origins may do at which address."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx2
import pytest

from gateway.testing import TestPortal, open_test_portal
from tests.journeys import garden
from tests.mcp_messages import INITIALIZE

ALLOWED, FOREIGN = "https://app.example.org", "https://evil.example"
ENDPOINTS = ["/mcp", "/members/mcp", "/mcp/garden"]
ASKED = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,mcp-param-plot,mcp-session-id",
}


@pytest.fixture(scope="module")
async def portal() -> AsyncGenerator[TestPortal]:
    config = {"allowed_origins": [ALLOWED], "limits": {"calls": "60 in 60s"}}
    async with open_test_portal(garden, config=config) as portal:
        yield portal


async def preflight(portal: TestPortal, path: str, origin: str, **more: str) -> httpx2.Response:
    asked = {"origin": origin, **ASKED, **more}
    return await portal.http().options(path, headers=asked)


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_preflight_of_an_allowed_origin_is_answered(portal: TestPortal, path: str) -> None:
    answer = await preflight(portal, path, ALLOWED)
    assert answer.status_code == 200
    headers = answer.headers
    assert headers["access-control-allow-origin"] == ALLOWED
    assert "access-control-allow-credentials" not in headers
    assert {"GET", "POST", "DELETE"} <= set(headers["access-control-allow-methods"].split(", "))
    assert headers["access-control-allow-headers"] == ASKED["access-control-request-headers"]
    assert "Origin" in headers["vary"]


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("origin", [FOREIGN, "null", ALLOWED + ".evil.example"])
async def test_a_preflight_of_another_origin_is_refused(
    portal: TestPortal, path: str, origin: str
) -> None:
    answer = await preflight(portal, path, origin)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_origin")
    assert "access-control-allow-origin" not in answer.headers


async def test_a_page_reads_what_a_client_needs_of_an_answer(portal: TestPortal) -> None:
    answer = await portal.http().post("/mcp", json=INITIALIZE, headers={"origin": ALLOWED})
    assert answer.headers["access-control-allow-origin"] == ALLOWED
    assert answer.headers["mcp-session-id"]
    exposed = answer.headers["access-control-expose-headers"].lower().split(", ")
    assert {
        "mcp-session-id",
        "www-authenticate",
        "retry-after",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-request-id",
    } == set(exposed)


async def test_a_page_reads_the_challenge_of_a_bad_token(portal: TestPortal) -> None:
    headers = {"origin": ALLOWED, "authorization": "Bearer wrong"}
    answer = await portal.http().post("/mcp", json=INITIALIZE, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == ALLOWED
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


async def test_a_preflight_needs_no_credential_and_asks_no_one(portal: TestPortal) -> None:
    answer = await preflight(portal, "/members/mcp", ALLOWED, authorization="Bearer wrong")
    assert answer.status_code == 200


async def test_an_answer_to_no_page_says_nothing_of_origins(portal: TestPortal) -> None:
    answer = await portal.http().post("/mcp", json=INITIALIZE)
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/account", "/authorize", "/healthz", "/hooks/garden/x"])
async def test_nothing_else_is_shared_with_any_page(portal: TestPortal, path: str) -> None:
    answer = await preflight(portal, path, ALLOWED)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert (await preflight(portal, path, FOREIGN)).status_code == 403


async def test_a_host_that_is_not_the_portals_has_no_preflight(portal: TestPortal) -> None:
    answer = await preflight(portal, "/mcp", ALLOWED, host="evil.example")
    assert answer.status_code == 421
    assert "access-control-allow-origin" not in answer.headers


async def test_half_a_preflight_is_none(portal: TestPortal) -> None:
    answer = await portal.http().options("/token", headers=ASKED)
    assert (answer.status_code, answer.headers["allow"]) == (204, "POST, OPTIONS")


async def test_what_a_cache_keeps_can_be_given_to_a_page(portal: TestPortal) -> None:
    for path in ("/api/v1/openapi.json", "/.well-known/jwks.json"):
        assert "Origin" in (await portal.get(path)).headers["vary"]
