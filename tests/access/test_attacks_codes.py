"""Attacks on codes, refresh tokens and the clients that hold them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from tests.access.attacks import BASE, REDIRECT, Attacked, OAuthClient, attacked, register, resealed
from tests.gateway.surfaces.oauth.surface import pkce, query_of
from tests.gateway.surfaces.pages.browser import NAVIGATES

EVIL = "https://evil.example/callback"


@pytest.fixture
async def portal() -> AsyncIterator[Attacked]:
    async with attacked() as portal:
        yield portal


@pytest.fixture
async def client(portal: Attacked) -> OAuthClient:
    return await register(portal)


# Codes.


async def test_a_code_that_is_used_again_ends_the_tokens_of_its_first_use(
    client: OAuthClient,
) -> None:
    code = await client.code()
    tokens = (await client.exchange(code)).json()
    assert await client.portal.tier(tokens["access_token"]) == "members"
    assert (await client.exchange(code)).json()["error"] == "invalid_grant"
    assert await client.portal.tier(tokens["access_token"]) == "refused"
    assert (await client.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_of_many_who_use_one_code_at_once_none_keeps_what_it_got(client: OAuthClient) -> None:
    code = await client.code()
    answers = await asyncio.gather(*(client.exchange(code) for _ in range(8)))
    good = [each.json()["access_token"] for each in answers if each.status_code == 200]
    assert len(good) <= 1
    for token in good:
        assert await client.portal.tier(token) == "refused"


async def test_a_code_is_no_good_to_another_client(portal: Attacked, client: OAuthClient) -> None:
    thief = await register(portal)
    code = await client.code()
    thief.verifier = client.verifier
    assert (await thief.exchange(code)).json()["error"] == "invalid_grant"
    assert (await client.exchange(code)).status_code == 200


async def test_a_code_cannot_be_injected_into_another_persons_sign_in(
    portal: Attacked, client: OAuthClient
) -> None:
    """Mallory's code, in Alice's client of the same id, fails by the verifier."""
    code = await client.code()
    client.verifier = pkce()[0]
    assert (await client.exchange(code)).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "changed",
    [
        {"code_challenge_method": "plain"},
        {"code_challenge_method": "S512"},
        {"code_challenge_method": "s256"},
        {"code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge": ""},
        {"code_challenge": "x" * 42},
    ],
    ids=str,
)
async def test_pkce_cannot_be_downgraded_at_the_authorization(
    client: OAuthClient, changed: dict[str, str | None]
) -> None:
    answer = await client.authorize(**changed)
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert "invalid_request" in answer.text


async def test_pkce_cannot_be_left_out_at_the_token(client: OAuthClient) -> None:
    code = await client.code()
    _, challenge = pkce()
    for verifier in (None, "", "x" * 43, challenge, client.verifier[:-1], client.verifier + "a"):
        answer = await client.exchange(code, code_verifier=verifier)
        assert answer.status_code == 400, verifier
    assert (await client.exchange(code)).status_code == 200


async def test_the_challenge_itself_is_no_verifier(client: OAuthClient) -> None:
    """As it would be with the method ``plain``."""
    verifier, challenge = pkce()
    code = await client.code(code_challenge=challenge)
    client.verifier = verifier
    assert (await client.exchange(code, code_verifier=challenge)).status_code == 400
    assert (await client.exchange(code)).status_code == 200


async def test_a_code_is_no_good_with_another_redirect_uri_or_resource(client: OAuthClient) -> None:
    code = await client.code()
    for changed in (
        {"redirect_uri": EVIL},
        {"redirect_uri": None},
        {"redirect_uri": f"{REDIRECT}/"},
        {"resource": f"{BASE}/mcp/garden"},
        {"resource": "https://elsewhere.example"},
    ):
        answer = await client.exchange(code, **changed)
        assert answer.status_code == 400, changed


# Refresh tokens.


async def test_a_refresh_token_used_again_ends_the_family_and_its_newest_access_token(
    client: OAuthClient,
) -> None:
    first = await client.tokens()
    second = (await client.refresh(first["refresh_token"])).json()
    third = (await client.refresh(second["refresh_token"])).json()
    assert await client.portal.tier(third["access_token"]) == "members"
    assert (await client.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
    for tokens in (first, second, third):
        assert await client.portal.tier(tokens["access_token"]) == "refused"
        assert (await client.refresh(tokens["refresh_token"])).status_code == 400


async def test_a_refresh_token_is_no_good_to_another_client(
    portal: Attacked, client: OAuthClient
) -> None:
    tokens = await client.tokens()
    thief = await register(portal)
    assert (await thief.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    answer = await thief.post("/revoke", token=tokens["refresh_token"])
    assert answer.status_code == 200
    assert await portal.tier(tokens["access_token"]) == "members"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_an_access_token_and_a_code_do_not_refresh(client: OAuthClient) -> None:
    tokens = await client.tokens()
    code = await client.code()
    for text in (tokens["access_token"], code, client.client_id, ""):
        assert (await client.refresh(text)).status_code == 400


# Clients.


async def test_a_confidential_client_is_not_acted_for_without_its_secret(portal: Attacked) -> None:
    client = await register(portal, token_endpoint_auth_method="client_secret_post")
    code = await client.code()
    for secret in (None, "", "x" * 43, client.client_id):
        answer = await client.exchange(code, client_secret=secret)
        assert answer.status_code in {400, 401}, secret
    basic = base64.b64encode(f"{client.client_id}:wrong".encode()).decode()
    answer = await client.http.post(
        "/token",
        data={"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT},
        headers={"authorization": f"Basic {basic}"},
    )
    assert answer.status_code in {400, 401}


async def test_the_secret_of_one_client_is_no_good_for_another(portal: Attacked) -> None:
    asked = {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "client_secret_post"}
    http = portal.client()
    one, other = [(await http.post("/register", json=asked)).json() for _ in range(2)]
    assert one["client_secret"] != other["client_secret"]
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": one["client_id"]}
    wrong = await http.post("/token", data={**form, "client_secret": other["client_secret"]})
    right = await http.post("/token", data={**form, "client_secret": one["client_secret"]})
    assert (wrong.status_code, right.json()["error"]) == (401, "invalid_grant")


async def test_no_field_of_a_registration_can_be_changed_in_a_clients_id(
    client: OAuthClient,
) -> None:
    for changes in ({"r": [EVIL]}, {"n": "Your Bank"}, {"m": "client_secret_post"}):
        forged = resealed(client.client_id, **changes)
        answer = await client.authorize(client_id=forged, redirect_uri=None)
        assert (answer.status_code, "location" in answer.headers) == (400, False)


async def test_a_registration_gains_no_powers_that_it_asks_for(portal: Attacked) -> None:
    asked = {
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "client_id": "chosen-by-me",
        "client_secret": "chosen-by-me",
        "scope": "members admin",
        "grant_types": ["authorization_code", "refresh_token", "client_credentials", "password"],
    }
    answer = await portal.client().post("/register", json=asked)
    if answer.status_code == 201:
        said = answer.json()
        assert said["client_id"] != "chosen-by-me"
        assert "chosen-by-me" not in answer.text
        assert "admin" not in said["scope"]
        assert set(said["grant_types"]) == {"authorization_code", "refresh_token"}
    else:
        assert answer.status_code == 400


async def test_parameters_given_twice_are_not_taken_for_either_value(client: OAuthClient) -> None:
    """Two readers of one request must not see two different ones."""
    for name in ("client_id", "redirect_uri", "code_challenge", "scope", "state", "resource"):
        asked = [*client.asked().items(), (name, EVIL), (name, REDIRECT)]
        answer = await client.browser.client.get(f"/authorize?{urlencode(asked)}")
        assert (answer.status_code, "location" in answer.headers) == (400, False), name


async def test_the_issuer_is_in_every_answer_so_that_servers_are_not_mixed_up(
    client: OAuthClient,
) -> None:
    await client.consent()
    denied = await client.browser.submit("/consent", {"answer": "deny"})
    await client.consent()
    allowed = await client.browser.submit("/consent", {"answer": "allow"})
    asked = client.asked(response_type="token")
    refused = await client.http.get("/authorize", params=asked)  # no browser, which is told itself
    for answer in (denied, allowed, refused):
        said = query_of(answer.headers["location"])
        assert (said["iss"], said["state"]) == (BASE, "its own")


async def test_no_link_to_the_portal_leads_a_browser_to_a_site_that_anybody_registered(
    client: OAuthClient,
) -> None:
    for wrong in ({"response_type": "token"}, {"resource": EVIL}, {"code_challenge": None}):
        answer = await client.authorize(**wrong)
        assert (answer.status_code, "location" in answer.headers) == (400, False)


async def test_what_a_client_says_cannot_change_the_answers_issuer_or_state(
    client: OAuthClient,
) -> None:
    state = "x&iss=https://evil.example&code=evil#\r\nSet-Cookie: a=b"
    await client.consent(state=state)
    answer = await client.browser.submit("/consent", {"answer": "allow"})
    assert query_of(answer.headers["location"])["state"] == state
    assert query_of(answer.headers["location"])["iss"] == BASE
    assert "\r" not in answer.headers["location"]


async def test_pages_of_other_origins_cannot_ask_for_an_authorization(client: OAuthClient) -> None:
    headers = {**NAVIGATES, "origin": "https://evil.example"}
    answer = await client.browser.client.get("/authorize", params=client.asked(), headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
