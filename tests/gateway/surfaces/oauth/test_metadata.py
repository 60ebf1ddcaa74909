"""Where clients find the authorization server, and the rules of each path."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.gateway.surfaces.oauth.surface import BASE, Surface, open_surface

SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"
ELSEWHERE = {"Origin": "https://inspector.example"}


@pytest.mark.parametrize("suffix", ["", "/mcp", "/members/mcp", "/mcp/knowledge"])
async def test_the_servers_metadata_is_found_from_every_resource(
    browser: httpx2.AsyncClient, suffix: str
) -> None:
    answer = await browser.get(SERVER + suffix)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "issuer": BASE,
        "authorization_endpoint": f"{BASE}/authorize",
        "token_endpoint": f"{BASE}/token",
        "registration_endpoint": f"{BASE}/register",
        "revocation_endpoint": f"{BASE}/revoke",
        "jwks_uri": f"{BASE}/.well-known/jwks.json",
        "service_documentation": f"{BASE}/",
        "scopes_supported": ["public", "members"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }


@pytest.mark.parametrize("suffix", ["", "/", "/mcp", "/mcp/", "/members/mcp", "/mcp/knowledge"])
async def test_each_resource_has_metadata_with_its_very_address(
    browser: httpx2.AsyncClient, suffix: str
) -> None:
    answer = await browser.get(RESOURCE + suffix)
    assert answer.json() == {
        "resource": BASE + suffix,
        "authorization_servers": [BASE],
        "scopes_supported": ["public", "members"],
        "bearer_methods_supported": ["header"],
        "resource_name": "The Garden",
        "resource_documentation": f"{BASE}/",
    }


@pytest.mark.parametrize("suffix", ["/mcp/unknown", "/api/v1", "/members", "mcp", "/mcp/a/b"])
async def test_what_is_no_resource_has_no_metadata(
    browser: httpx2.AsyncClient, suffix: str
) -> None:
    assert (await browser.get(RESOURCE + suffix)).status_code == 404
    assert (await browser.get(SERVER + suffix)).status_code == 404


async def test_a_portal_below_a_path_is_found_where_the_path_is_inserted(tmp_path: Path) -> None:
    base = "https://example.org/porch"
    async with open_surface(tmp_path, base) as surface:
        async with surface.browser("https://example.org") as browser:
            for path in (SERVER, f"{SERVER}/porch", f"{SERVER}/porch/mcp"):
                said = (await browser.get(path)).json()
                assert said["issuer"] == base
                assert said["token_endpoint"] == f"{base}/token"
            said = (await browser.get(f"{RESOURCE}/porch/mcp")).json()
            assert said["resource"] == f"{base}/mcp"
            assert said["authorization_servers"] == [base]


async def test_a_local_portal_answers_to_the_name_it_was_asked_by(tmp_path: Path) -> None:
    async with open_surface(tmp_path, "http://127.0.0.1:8321", local=True) as surface:
        for base in ("http://localhost:8321", "http://127.0.0.1:9000"):
            async with surface.browser(base) as browser:
                assert (await browser.get(SERVER)).json()["issuer"] == base
                assert (await browser.get(f"{RESOURCE}/mcp")).json()["resource"] == f"{base}/mcp"


async def test_the_published_keys_verify_the_tokens(
    browser: httpx2.AsyncClient, surface: Surface
) -> None:
    answer = await browser.get("/.well-known/jwks.json")
    keys = answer.json()["keys"]
    assert len(keys) == 3
    assert all("d" not in key and key["use"] == "sig" for key in keys)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (SERVER, "GET"),
        (f"{RESOURCE}/mcp", "GET"),
        ("/.well-known/jwks.json", "GET"),
        ("/token", "POST"),
        ("/register", "POST"),
        ("/revoke", "POST"),
    ],
)
async def test_clients_in_browsers_may_use_what_clients_use(
    browser: httpx2.AsyncClient, path: str, method: str
) -> None:
    wanted = {
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "mcp-protocol-version, content-type, authorization",
    }
    preflight = await browser.options(path, headers={**ELSEWHERE, **wanted})
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "*"
    answer = await browser.request(method, path, headers=ELSEWHERE)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    assert (await browser.options(path)).status_code == 204


async def test_no_page_elsewhere_may_read_the_authorization_endpoint(
    browser: httpx2.AsyncClient,
) -> None:
    answer = await browser.get("/authorize", headers=ELSEWHERE)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


async def test_answers_to_one_client_are_not_stored(browser: httpx2.AsyncClient) -> None:
    for path in ("/token", "/register", "/revoke"):
        assert (await browser.post(path)).headers["cache-control"] == "no-store"
    assert (await browser.get("/authorize")).headers["cache-control"] == "no-store"
