"""The authorization code flow, from a client's first request to its revocation."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.gateway.surfaces.oauth.conftest import Client, register
from tests.gateway.surfaces.oauth.surface import (
    BASE,
    DOCUMENT,
    REDIRECT,
    Surface,
    open_surface,
    query_of,
)


async def test_a_client_that_registers_gets_tokens_that_open_the_portal(
    client: Client, surface: Surface
) -> None:
    tokens = await client.sign_in()
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 900
    assert tokens["scope"] == "public members"
    answer = await client.use(tokens["access_token"])
    assert answer.json() == {"person": surface.alice.id, "tier": "members"}


async def test_the_answer_names_its_issuer_and_the_clients_state(client: Client) -> None:
    consent = await client.authorize()
    answer = await client.http.get(consent.headers["location"])
    assert answer.headers["location"].startswith(REDIRECT + "?")
    said = query_of(answer.headers["location"])
    assert said.keys() == {"code", "state", "iss"}
    assert said["iss"] == BASE
    assert said["state"] == "its own"


async def test_a_client_is_named_by_its_metadata_document(
    browser: httpx2.AsyncClient, surface: Surface
) -> None:
    surface.documents[DOCUMENT] = {
        "client_id": DOCUMENT,
        "client_name": "Garden Tools",
        "client_uri": "https://client.example/about",
        "redirect_uris": [REDIRECT],
    }
    client = Client(browser, DOCUMENT)
    consent = await client.authorize()
    asked = surface.consents.open(query_of(consent.headers["location"])["request"])
    assert asked.client_name == "Garden Tools"
    assert asked.client_uri == "https://client.example/about"
    assert asked.metadata_host == "client.example"
    assert asked.redirect_host == "client.example"
    assert (await client.sign_in())["access_token"]


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic", None])
async def test_a_confidential_client_proves_itself(
    browser: httpx2.AsyncClient, method: str | None
) -> None:
    client = await register(browser, token_endpoint_auth_method=method)
    tokens = await client.sign_in()
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200
    code = await client.code()
    client.secret = "a guess"
    answer = await client.exchange(code)
    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_client"
    assert ("www-authenticate" in answer.headers) == client.basic


async def test_a_confidential_client_cannot_leave_its_secret_out(
    browser: httpx2.AsyncClient,
) -> None:
    client = await register(browser, token_endpoint_auth_method="client_secret_post")
    code, client.secret = await client.code(), None
    assert (await client.exchange(code)).status_code == 401


async def test_the_authorization_header_and_the_form_must_agree(
    browser: httpx2.AsyncClient,
) -> None:
    client = await register(browser, token_endpoint_auth_method="client_secret_basic")
    code = await client.code()
    other = await client.exchange(code, client_id="another")
    twice = await client.exchange(code, client_secret=client.secret)
    assert other.status_code == twice.status_code == 400
    assert (await client.exchange(code)).status_code == 200


async def test_registering_ten_thousand_clients_stores_nothing(surface: Surface) -> None:
    from mcp.shared.auth import OAuthClientMetadata

    metadata = OAuthClientMetadata.model_validate({"redirect_uris": [REDIRECT]})
    ids = {surface.clients.register(metadata).client_id for _ in range(10_000)}
    assert len(ids) == 10_000
    assert await surface.stores.grants.of(surface.alice.id) == []


async def test_a_native_client_gets_its_answer_at_whichever_port_it_listens(
    browser: httpx2.AsyncClient, surface: Surface
) -> None:
    client = await register(browser, redirect_uris=["http://127.0.0.1/callback"])
    client.redirect_uri = "http://127.0.0.1:49152/callback"
    consent = await client.authorize()
    asked = surface.consents.open(query_of(consent.headers["location"])["request"])
    assert asked.is_loopback
    assert asked.redirect_uri == client.redirect_uri
    assert asked.redirect_host == "127.0.0.1:49152"
    assert (await client.sign_in())["access_token"]


@pytest.mark.parametrize("written", ["http://127.0.0.1:3118", "http://127.0.0.1:3118/"])
@pytest.mark.parametrize("named", ["http://127.0.0.1:3118", "http://127.0.0.1:3118/"])
async def test_an_address_without_a_path_is_the_same_with_a_slash(
    browser: httpx2.AsyncClient, written: str, named: str
) -> None:
    client = await register(browser, redirect_uris=[written])
    client.redirect_uri = named
    assert (await client.sign_in())["access_token"]


async def test_an_apps_own_scheme_is_shown_as_such(
    browser: httpx2.AsyncClient, surface: Surface
) -> None:
    app = "cursor://anysphere.cursor-retrieval/oauth/callback"
    client = await register(browser, redirect_uris=[app])
    consent = await client.authorize()
    asked = surface.consents.open(query_of(consent.headers["location"])["request"])
    assert asked.redirect_host == "cursor"
    answer = await client.http.get(consent.headers["location"])
    assert answer.headers["location"].startswith(app + "?code=")


async def test_a_client_with_one_redirect_uri_need_not_name_it(client: Client) -> None:
    code = await client.code(redirect_uri=None)
    assert (await client.exchange(code, redirect_uri=None)).status_code == 200


async def test_a_redirect_uri_keeps_its_own_parameters(browser: httpx2.AsyncClient) -> None:
    client = await register(browser, redirect_uris=[f"{REDIRECT}?tenant=a%20b"])
    consent = await client.authorize()
    answer = await client.http.get(consent.headers["location"])
    assert answer.headers["location"].startswith(f"{REDIRECT}?tenant=a%20b&code=")


@pytest.mark.parametrize(
    ("asked", "granted", "tier"),
    [
        ("public", "public", "public"),
        ("members", "public members", "members"),
        ("public members", "public members", "members"),
        ("openid offline_access", "public members", "members"),
        (None, "public members", "members"),
        ("", "public members", "members"),
    ],
)
async def test_a_scope_is_a_ceiling(
    client: Client, asked: str | None, granted: str, tier: str
) -> None:
    tokens = await client.sign_in(scope=asked)
    assert tokens["scope"] == granted
    assert (await client.use(tokens["access_token"])).json()["tier"] == tier


@pytest.mark.parametrize(
    ("resource", "good", "bad"),
    [
        (None, ["/mcp", "/members/mcp", "/mcp/knowledge"], []),
        (BASE, ["/mcp", "/members/mcp", "/mcp/knowledge"], []),
        (f"{BASE}/", ["/mcp", "/members/mcp", "/mcp/knowledge"], []),
        (f"{BASE}/mcp", ["/mcp", "/members/mcp"], ["/mcp/knowledge"]),
        (f"{BASE}/members/mcp", ["/members/mcp", "/mcp"], ["/mcp/knowledge"]),
        (f"{BASE}/mcp/knowledge", ["/mcp/knowledge"], ["/mcp", "/members/mcp"]),
    ],
)
async def test_a_token_is_good_at_the_resource_it_was_asked_for(
    client: Client, resource: str | None, good: list[str], bad: list[str]
) -> None:
    tokens = await client.sign_in(resource=resource)
    for path in good:
        assert (await client.use(tokens["access_token"], path)).status_code == 200
    for path in bad:
        assert (await client.use(tokens["access_token"], path)).status_code == 401


async def test_a_refresh_gives_new_tokens_of_the_same_grant(client: Client) -> None:
    tokens = await client.sign_in(resource=f"{BASE}/mcp")
    answer = await client.refresh(tokens["refresh_token"], resource=f"{BASE}/mcp")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    fresh = answer.json()
    assert fresh["refresh_token"] != tokens["refresh_token"]
    assert (await client.use(fresh["access_token"])).status_code == 200
    assert (await client.use(fresh["access_token"], "/mcp/knowledge")).status_code == 401
    again = await client.refresh(fresh["refresh_token"], resource=f"{BASE}/members/mcp")
    assert again.status_code == 200


async def test_a_refresh_may_ask_for_less_but_never_for_more(client: Client) -> None:
    tokens = await client.sign_in(scope="members")
    narrow = (await client.refresh(tokens["refresh_token"], scope="public openid")).json()
    assert narrow["scope"] == "public"
    assert (await client.use(narrow["access_token"])).json()["tier"] == "public"
    wide = (await client.refresh(narrow["refresh_token"])).json()
    assert wide["scope"] == "public members"

    low = await client.sign_in(scope="public")
    answer = await client.refresh(low["refresh_token"], scope="members")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_scope")


async def test_revoking_either_token_ends_the_grant_at_once(client: Client) -> None:
    for kind in ("access_token", "refresh_token"):
        tokens = await client.sign_in()
        assert (await client.use(tokens["access_token"])).status_code == 200
        form = {"token": tokens[kind], "token_type_hint": kind}
        assert (await client.post("/revoke", form)).status_code == 200
        assert (await client.use(tokens["access_token"])).status_code == 401
        answer = await client.refresh(tokens["refresh_token"])
        assert answer.json()["error"] == "invalid_grant"


async def test_a_client_revokes_only_its_own_tokens_and_is_told_nothing(
    browser: httpx2.AsyncClient, client: Client
) -> None:
    tokens = await client.sign_in()
    other = await register(browser)
    for token in (tokens["access_token"], tokens["refresh_token"], "unknown"):
        form = {"token": token, "token_type_hint": "what is that"}
        assert (await other.post("/revoke", form)).status_code == 200
    assert (await client.use(tokens["access_token"])).status_code == 200
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_revocation_by_nobody_is_refused(client: Client) -> None:
    tokens = await client.sign_in()
    answer = await client.http.post("/revoke", data={"token": tokens["access_token"]})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


async def test_the_tokens_of_a_person_who_is_gone_are_no_good(
    client: Client, surface: Surface
) -> None:
    code = await client.code()
    tokens = await client.sign_in()
    await surface.stores.people.delete(surface.alice.id)
    for answer in (await client.exchange(code), await client.refresh(tokens["refresh_token"])):
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


async def test_of_many_exchanges_at_once_one_wins_and_the_grant_ends(
    client: Client, surface: Surface
) -> None:
    code = await client.code()
    answers = await asyncio.gather(*(client.exchange(code) for _ in range(5)))
    assert sum(answer.status_code == 200 for answer in answers) <= 1
    assert surface.reused
    assert await surface.stores.grants.of(surface.alice.id) == []


async def test_a_local_portal_is_its_own_issuer_under_each_of_its_names(tmp_path: Path) -> None:
    async with open_surface(tmp_path, "http://127.0.0.1:8321", local=True) as surface:
        for base in ("http://localhost:9000", "http://127.0.0.1:8321"):
            async with surface.browser(base) as browser:
                client = await register(browser)
                consent = await client.authorize(resource=f"{base}/mcp")
                location = consent.headers["location"]
                assert location.startswith(f"{base}/consent?request=")
                said = query_of((await browser.get(location)).headers["location"])
                assert said["iss"] == base
                tokens: dict[str, Any] = (await client.exchange(said["code"])).json()
                assert (await client.use(tokens["access_token"])).status_code == 200
