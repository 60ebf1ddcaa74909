"""REST over the real app, with a plugin of the test's own."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import openapi_spec_validator
import pytest
from pydantic import BaseModel, Field

from auth import StaticTokens
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.contract import Offer, Plugin, Route, Tool, ToolFailed, Webhook, hookimpl

TIERS = """
items:
  demo: open
  demo/secret: members
  demo/unseen: {tier: members, hidden: true}
"""
MEMBER = {"Authorization": "Bearer alpha"}


class Params(BaseModel):
    id: str = Field(description="Which one.")
    tags: list[str] = Field(default_factory=list, description="Its tags.")
    most: int = Field(default=5, ge=1, le=9, description="How many.")


class Found(BaseModel):
    id: str
    tags: list[str]
    most: int
    tier: str
    note: str | None = None


async def _find(params: Params, caller: Any) -> Found:
    if params.id == "none":
        raise ToolFailed("not_found", "There is no such thing.")
    if params.id == "crash":
        raise RuntimeError("the password is hunter2")
    return Found(**params.model_dump(), tier=caller.tier)


def _route(path: str, tool: str, *, absolute: bool = False) -> Route:
    return Route("GET", path, _find, tool, Params, Found, "Find one.", absolute=absolute)


class Planted(BaseModel):
    id: str = Field(description="Which one.")
    seeds: int = Field(default=1, ge=1, le=9, description="How many seeds.")
    tags: list[str] = Field(default_factory=list, description="Its tags.")


async def _plant(params: Planted, caller: Any) -> Found:
    if params.id == "none":
        raise ToolFailed("not_found", "There is no such bed.")
    return Found(id=params.id, tags=params.tags, most=params.seeds, tier=caller.tier)


async def _hook(body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
    if body == b"crash":
        raise RuntimeError("the password is hunter2")
    return {"size": len(body)}


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(
        tools=[
            Tool(name, "A tool.", _find, args=Params, result=Found)
            for name in ("find", "secret", "unseen")
        ],
        routes=[
            _route("/things/{id}", "find", absolute=True),
            _route("/secret/{id}", "secret"),
            _route("/unseen/{id}", "unseen"),
            Route("POST", "/beds/{id}", _plant, None, Planted, Found, "Plant.", admin=True),
            Route("DELETE", "/beds/{id}", _find, None, Params, Found, "Clear.", admin=True),
            Route("GET", "/beds/{id}", _find, None, Params, Found, "Look.", admin=True),
            Route("POST", "/open/{id}", _plant, "secret", Planted, Found, "Plant openly."),
            Route("POST", "/rows/{id}", _plant, "find", Planted, Found, "Many.", body=2**20),
        ],
        webhooks=[Webhook("push", lambda body, headers: headers.get("x-signed") == "yes", _hook)],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("demo", "A demo.", _open)


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    config = tmp_path / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text(TIERS)
    overrides = {"services": {"embedding": "none"}, "limits": {"body": "1KiB"}}
    portal = load_portal(config, overrides)
    app = PortalApp(
        portal, tmp_path / "data", StaticTokens.parse("members:alpha"), [sys.modules[__name__]]
    )
    async with app.opened():
        transport = httpx2.ASGITransport(app, client=("127.0.0.1", 5))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8321"
        ) as each:
            yield each


async def test_a_route_answers_with_the_bare_model(client):
    answer = await client.get("/api/v1/things/x?tags=a&tags=b&most=2")
    assert answer.status_code == 200
    assert answer.json() == {"id": "x", "tags": ["a", "b"], "most": 2, "tier": "open"}


async def test_one_value_of_a_list_is_a_list(client):
    assert (await client.get("/api/v1/things/x?tags=a")).json()["tags"] == ["a"]


async def test_what_the_open_tier_sees_may_be_shared_by_caches(client):
    headers = (await client.get("/api/v1/things/x")).headers
    assert headers["cache-control"] == "public, max-age=300, stale-while-revalidate=3600"
    assert "Authorization" in headers["vary"]


@pytest.mark.parametrize("path", ["/api/v1/things/x", "/api/v1/demo/secret/x"])
async def test_what_a_signed_in_caller_sees_is_private(client, path):
    headers = (await client.get(path, headers=MEMBER)).headers
    assert headers["cache-control"].startswith("private")
    assert "Authorization" in headers["vary"]


async def test_an_unchanged_answer_is_not_sent_again(client):
    tag = (await client.get("/api/v1/things/x")).headers["etag"]
    again = await client.get("/api/v1/things/x", headers={"If-None-Match": f"W/{tag}"})
    assert (again.status_code, again.content) == (304, b"")
    other = await client.get("/api/v1/things/y", headers={"If-None-Match": tag})
    assert other.status_code == 200


async def test_a_route_carries_the_tier_of_its_tool(client):
    refused = await client.get("/api/v1/demo/secret/x")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    error = refused.json()["error"]
    assert error["message"].startswith("Requires members access. Current: open.")
    assert (await client.get("/api/v1/demo/secret/x", headers=MEMBER)).json()["tier"] == "members"


async def test_a_hidden_route_is_not_found_below_its_tier(client):
    assert (await client.get("/api/v1/demo/unseen/x")).status_code == 404
    assert (await client.get("/api/v1/demo/unseen/x", headers=MEMBER)).status_code == 200


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/things/none", 404, "not_found"),
        ("/api/v1/things/x?most=99", 400, "invalid_parameters"),
        ("/api/v1/things/crash", 500, "internal_error"),
        ("/api/v1/nothing", 404, "not_found"),
        ("/nothing", 404, "not_found"),
    ],
)
async def test_every_error_has_the_one_shape_and_tells_no_secret(client, path, status, code):
    answer = await client.get(path)
    assert answer.status_code == status
    body = answer.json()
    assert body["error"]["code"] == code
    assert body["request_id"] == answer.headers["x-request-id"]
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text


async def test_any_page_may_read_without_credentials(client):
    answer = await client.get("/api/v1/things/x", headers={"Origin": "https://other.example"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    preflight = await client.options(
        "/api/v1/things/x",
        headers={
            "Origin": "https://other.example",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "If-None-Match",
        },
    )
    assert preflight.status_code == 200
    assert "GET" in preflight.headers["access-control-allow-methods"]


async def test_the_openapi_document_is_valid_and_has_every_route(client):
    document = (await client.get("/api/v1/openapi.json")).json()
    openapi_spec_validator.validate(document)
    assert set(document["paths"]) == {
        *("/things/{id}", "/demo/secret/{id}", "/demo/unseen/{id}"),
        *("/demo/beds/{id}", "/demo/open/{id}", "/demo/rows/{id}"),
    }
    parameters = document["paths"]["/things/{id}"]["get"]["parameters"]
    assert [(p["name"], p["in"], p["required"]) for p in parameters] == [
        ("id", "path", True),
        ("tags", "query", False),
        ("most", "query", False),
    ]
    assert json.dumps(document).count("Which one.") == 8


async def test_a_signed_delivery_is_taken(client):
    answer = await client.post("/hooks/demo/push", content=b"12345", headers={"X-Signed": "yes"})
    assert (answer.status_code, answer.json()) == (200, {"size": 5})


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"12345", {}, 403),
        (b"x" * 2000, {"X-Signed": "yes"}, 413),
        (b"crash", {"X-Signed": "yes"}, 500),
    ],
)
async def test_a_bad_delivery_is_refused_in_the_one_shape(client, content, headers, status):
    answer = await client.post("/hooks/demo/push", content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert "hunter2" not in answer.text


async def test_a_bad_token_is_refused_on_every_surface(client):
    for path in ("/api/v1/things/x", "/mcp", "/readyz"):
        answer = await client.get(path, headers={"Authorization": "Bearer wrong"})
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_foreign_host_is_refused_but_for_the_health_checks(client):
    host = {"Host": "evil.example"}
    assert (await client.get("/api/v1/things/x", headers=host)).status_code == 421
    assert (await client.get("/healthz", headers=host)).status_code == 200
    ready = await client.get("/readyz", headers=host)
    assert "plugins" not in ready.json()


async def test_a_foreign_origin_may_not_speak_mcp(client):
    answer = await client.post("/mcp", headers={"Origin": "https://evil.example"}, json={})
    assert answer.status_code == 403


@pytest.fixture
def local(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """The portal's own user, over its local socket: an admin."""
    app = client._transport.app  # type: ignore[attr-defined]

    async def through_the_socket(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"porch.local": True}, receive, send)

    transport = httpx2.ASGITransport(through_the_socket)
    headers = {"Porch-Tier": "members"}
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)


BED = "/api/v1/demo/beds/x"


async def test_an_admin_writes_with_a_json_body(local):
    answer = await local.post(BED, json={"seeds": 3, "tags": ["a"]})
    assert answer.status_code == 200
    assert answer.json()["most"] == 3
    assert answer.json()["tags"] == ["a"]
    assert answer.headers["cache-control"] == "no-store"
    assert (await local.post(BED)).json()["most"] == 1
    assert (await local.delete(BED)).json()["id"] == "x"
    assert (await local.get(BED)).headers["cache-control"] == "no-store"


async def test_what_stands_in_the_path_wins_over_the_body(local):
    assert (await local.post(BED, json={"id": "y"})).json()["id"] == "x"


@pytest.mark.parametrize("method", ["POST", "DELETE", "GET"])
async def test_everyone_else_is_refused_before_the_body_is_read(client, method):
    nobody = await client.request(method, BED, content=b"x" * 5000)
    assert nobody.status_code == 401
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    member = await client.request(method, BED, headers=MEMBER, content=b"x" * 5000)
    assert member.status_code == 403
    assert member.json()["error"]["code"] == "not_allowed"


async def test_a_route_that_writes_may_carry_a_tools_tier(client):
    assert (await client.post("/api/v1/demo/open/x", json={})).status_code == 401
    allowed = await client.post("/api/v1/demo/open/x", json={"seeds": 2}, headers=MEMBER)
    assert (allowed.status_code, allowed.json()["most"]) == (200, 2)


@pytest.mark.parametrize(("tags", "status"), [(9, 200), (40, 200), (100, 413)])
async def test_a_route_may_take_a_larger_body_than_the_others(client, tags, status):
    answer = await client.post("/api/v1/demo/rows/x", json={"tags": ["a" * 12_000] * tags})
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["tags"] == ["a" * 12_000] * tags


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"x" * 2000, "application/json", 413, "too_large"),
        (b"{}", "text/plain", 415, "not_json"),
        (b"{}", "application/x-www-form-urlencoded", 415, "not_json"),
        (b"{", "application/json", 400, "invalid_json"),
        (b"[" * 900, "application/json", 400, "invalid_json"),
        (b"[]", "application/json; charset=utf-8", 400, "invalid_json"),
        (b'{"seeds": 99}', "application/json", 400, "invalid_parameters"),
        (b'{"seeds": "' + b"9" * 500 + b'"}', "application/json", 400, "invalid_parameters"),
    ],
)
async def test_a_bad_body_is_refused_in_the_one_shape(local, body, kind, status, code):
    answer = await local.post(BED, content=body, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


async def test_no_cookie_and_no_other_sites_page_can_write(client):
    for cookie in ("porch_session", "__Host-porch_session", "session"):
        answer = await client.post(BED, json={}, headers={"Cookie": f"{cookie}=anything"})
        assert answer.status_code == 401
    preflight = await client.options(
        BED,
        headers={"Origin": "https://other.example", "Access-Control-Request-Method": "POST"},
    )
    assert preflight.status_code == 400
    # Without a body and headers of its own a browser sends it unasked, and at a tool of the open
    # tier the browser's network is all that it takes.
    for method in ("POST", "DELETE"):
        for path in (BED, "/api/v1/demo/open/x"):
            headers = {"Origin": "https://other.example", **MEMBER}
            foreign = await client.request(method, path, headers=headers)
            assert (foreign.status_code, foreign.json()["error"]["code"]) == (403, "foreign_origin")
    own = {"Origin": "http://127.0.0.1:8321", **MEMBER}
    assert (await client.post("/api/v1/demo/open/x", headers=own)).status_code == 200


async def test_a_method_that_no_route_takes_is_said_to_be_wrong(client):
    assert (await client.put(BED, json={})).status_code == 405
    assert (await client.post("/api/v1/things/x", json={})).status_code == 405


async def test_the_document_tells_admin_routes_and_bodies(client):
    document = (await client.get("/api/v1/openapi.json")).json()
    bed = document["paths"]["/demo/beds/{id}"]
    assert set(bed) == {"get", "post", "delete"}
    assert bed["post"]["security"] == [{"bearer": []}]
    body = bed["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["properties"]) == {"seeds", "tags"}
    assert [each["name"] for each in bed["post"]["parameters"]] == ["id"]
    assert "requestBody" not in bed["delete"]


def test_a_route_that_is_for_nobody_in_particular_is_refused():
    with pytest.raises(TypeError, match="names no tool"):
        Route("GET", "/x", _find, None, Params, Found, "Find.")
