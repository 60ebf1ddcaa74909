"""What somebody's provider ends, and what ends by its age, is over here too."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from eth_account import Account as Key
from sqlalchemy import update

from gateway.identity.stores.tables import grants, sessions
from tests.access.attacks import META, TIERS, Attacked, OAuthClient, attacked, claims_of, register
from tests.gateway.surfaces.pages.browser import Browser
from tests.servers.identity_provider import IdentityProvider

LOGOUT = "/signin/oidc/provider/logout"
DAY_S = 86_400
RULE = {"any_of": [{"claim": {"name": "groups", "value": "core"}}]}
CORE: dict[str, Any] = {**TIERS, "access": {"public": {"any_of": ["signed_in"]}, "members": RULE}}


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider(client_secret=None) as provider:
        provider.client_secret = None
        yield provider


def ways(provider: IdentityProvider, **tokens: Any) -> dict[str, Any]:
    oidc = {"name": "Provider", "issuer": provider.issuer, "client_id": "portal"}
    return {"oidc": [oidc], "tokens": tokens}


@pytest.fixture
async def portal(provider: IdentityProvider) -> AsyncIterator[Attacked]:
    async with attacked(tiers=CORE, sign_in=ways(provider)) as portal:
        yield portal


async def signed_in(
    portal: Attacked, provider: IdentityProvider, sid: str | None = None, page: str = "/signin"
) -> Browser:
    """A browser of Ana's, who signed in with the provider."""
    browser = portal.browser()
    await through(browser, provider, sid, page)
    return browser


async def through(
    browser: Browser, provider: IdentityProvider, sid: str | None = None, page: str = "/signin"
) -> None:
    """Sign in at the provider, by way of the portal's page."""
    provider.id_token_changes["sid"] = sid
    await browser.get(page)
    left = await browser.submit("/signin/oidc/provider")
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        back = urlsplit((await http.get(left.headers["location"])).headers["location"])
    done = await browser.get(f"{back.path}?{back.query}")
    assert done.status_code == 303, done.text
    assert done.headers["location"].endswith("/account")


async def connected(portal: Attacked, browser: Browser) -> tuple[OAuthClient, dict[str, Any]]:
    """A client that acts for who is signed in in a browser, and its tokens."""
    client = await register(portal, browser)
    return client, await client.tokens()


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.get("/account")).status_code == 200


async def told(portal: Attacked, token: str) -> httpx2.Response:
    return await portal.client("198.51.100.9").post(LOGOUT, data={"logout_token": token})


async def test_a_logout_at_the_provider_ends_its_sessions_and_grants_and_no_others(
    portal: Attacked, provider: IdentityProvider
) -> None:
    browser = await signed_in(portal, provider)
    client, tokens = await connected(portal, browser)
    by_wallet = portal.browser()
    await by_wallet.sign_in()
    assert await portal.tier(tokens["access_token"]) == "members"
    answer = await told(portal, provider.logout_token("ben"))
    assert (answer.status_code, await is_signed_in(browser)) == (200, True)
    answer = await told(portal, provider.logout_token("ana"))
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["cache-control"] == "no-store"
    assert not await is_signed_in(browser)
    assert await portal.tier(tokens["access_token"]) == "refused"
    assert (await client.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert await is_signed_in(by_wallet)
    again = await signed_in(portal, provider)
    assert await is_signed_in(again)


async def test_a_logout_of_one_session_ends_what_came_of_it_alone(
    portal: Attacked, provider: IdentityProvider
) -> None:
    here = await signed_in(portal, provider, "s-1")
    there = await signed_in(portal, provider, "s-2")
    (_, ended), (_, stays) = await connected(portal, here), await connected(portal, there)
    assert (await told(portal, provider.logout_token(None, "s-1"))).status_code == 200
    assert (await is_signed_in(here), await is_signed_in(there)) == (False, True)
    assert await portal.tier(ended["access_token"]) == "refused"
    assert await portal.tier(stays["access_token"]) == "members"
    assert (await told(portal, provider.logout_token("ana", "s-2"))).status_code == 200
    assert not await is_signed_in(there)
    assert await portal.tier(stays["access_token"]) == "refused"


async def test_another_provider_ends_nothing_by_the_same_names() -> None:
    with IdentityProvider(client_secret=None) as one, IdentityProvider(client_secret=None) as two:
        providers = [
            {"name": name, "issuer": each.issuer, "client_id": "portal"}
            for name, each in (("Provider", one), ("Other", two))
        ]
        async with attacked(tiers=CORE, sign_in={"oidc": providers}) as portal:
            browser = await signed_in(portal, one, "s-1")
            for who in (("ana", None), (None, "s-1"), ("ana", "s-1")):
                token = two.logout_token(*who)
                assert (await told(portal, token)).status_code == 400
                answer = await portal.client().post(
                    "/signin/oidc/other/logout", data={"logout_token": token}
                )
                assert answer.status_code == 200
            assert await is_signed_in(browser)


async def test_what_was_begun_before_its_sign_in_was_noted_ends_with_the_account(
    portal: Attacked, provider: IdentityProvider
) -> None:
    browser = await signed_in(portal, provider, "s-1")
    _, tokens = await connected(portal, browser)
    by_wallet = portal.browser()
    await by_wallet.sign_in()
    async with portal.portal.running.services.shared_database.begin() as connection:
        for table in (sessions, grants):
            await connection.execute(update(table).values(account=None, sid=None))
    assert (await told(portal, provider.logout_token("ana", "s-7"))).status_code == 200
    assert not await is_signed_in(browser)
    assert await portal.tier(tokens["access_token"]) == "refused"
    assert await is_signed_in(by_wallet)


async def test_a_logout_that_is_not_the_providers_ends_nothing_and_is_limited(
    portal: Attacked, provider: IdentityProvider
) -> None:
    browser = await signed_in(portal, provider)
    used = provider.logout_token("ana", "another")
    assert (await told(portal, used)).status_code == 200
    for body in ({}, {"logout_token": "nonsense"}, {"logout_token": used}, {"token": used}):
        answer = await portal.client("198.51.100.9").post(LOGOUT, data=body)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert answer.headers["cache-control"] == "no-store"
    big = await portal.client("198.51.100.9").post(LOGOUT, data={"logout_token": "x" * 70_000})
    assert big.status_code == 413
    assert (await portal.client().get(LOGOUT)).status_code == 405
    assert await is_signed_in(browser) is False  # the first one knew no session of hers
    statuses = [
        (await portal.client("198.51.100.10").post(LOGOUT, data={})).status_code for _ in range(61)
    ]
    assert statuses == [400] * 60 + [429]


# What ends by its age.


async def test_a_grant_ends_with_its_own_life_however_often_it_is_refreshed(
    provider: IdentityProvider,
) -> None:
    async with attacked(tiers=CORE, sign_in=ways(provider, grant="2h")) as portal:
        browser = await signed_in(portal, provider)
        client, tokens = await connected(portal, browser)
        fresh = (await client.refresh(tokens["refresh_token"])).json()
        assert fresh["expires_in"] == 900
        await _older(portal, timedelta(minutes=110))
        last = (await client.refresh(fresh["refresh_token"])).json()
        assert last["expires_in"] <= 600
        assert claims_of(last["access_token"])["exp"] <= time.time() + 600
        portal.who.authenticator._known.clear()
        assert await portal.tier(last["access_token"]) == "members"
        await _older(portal, timedelta(minutes=121))
        portal.who.authenticator._known.clear()
        assert await portal.tier(last["access_token"]) == "refused"
        ended = await client.refresh(last["refresh_token"])
        assert (ended.status_code, ended.json()["error"]) == (400, "invalid_grant")
        again = await client.tokens()
        assert await portal.tier(again["access_token"]) == "members"


async def _older(portal: Attacked, age: timedelta) -> None:
    """Let grants be older than they are."""
    async with portal.portal.running.services.shared_database.begin() as connection:
        await connection.execute(update(grants).values(created=datetime.now(UTC) - age))


async def test_claims_that_are_too_old_grant_nothing_until_the_person_signs_in_again(
    provider: IdentityProvider,
) -> None:
    key = Key.create()
    admins = {"admins": {"any_of": [{"address": key.address}]}}
    tiers = {**CORE, "access": {**CORE["access"], **admins}}
    async with attacked(tiers=tiers, sign_in=ways(provider)) as portal:
        await _aged(portal, provider, key)


async def _aged(portal: Attacked, provider: IdentityProvider, key: Any) -> None:
    provider.id_token_changes["iat"] = int(time.time()) - 31 * DAY_S
    browser = await signed_in(portal, provider)
    _, tokens = await connected(portal, browser)
    personal = await _api_token(portal, provider)
    for token in (tokens["access_token"], personal):
        assert await portal.tier(token) == "public"
    page = await browser.get("/account")
    assert "too old to count. Sign in again." in page.text
    assert "/signin?again=1" in page.text
    said = await _refusal(portal, personal)
    assert "Sign in again at" in said
    explained = await _explained(portal, provider, key)
    assert explained["sign_in_again"] is True
    assert "too old to count" in " ".join(explained["reasons"])
    del provider.id_token_changes["iat"]
    await through(browser, provider, page="/signin?again=1")
    for token in (tokens["access_token"], personal):
        assert await portal.tier(token) == "members"


async def _api_token(portal: Attacked, provider: IdentityProvider) -> str:
    person = await portal.who.stores.people.by_subject(f"oidc:{provider.issuer}#ana")
    assert person is not None
    return await portal.api_token(person)


async def _refusal(portal: Attacked, token: str) -> str:
    """What an agent reads that calls a tool above its person's tier."""
    call = {"name": "harvest", "arguments": {}, "_meta": META}
    headers = {
        "authorization": f"Bearer {token}",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "harvest",
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return (await portal.client().post("/mcp", json=message, headers=headers)).text


async def _explained(portal: Attacked, provider: IdentityProvider, key: Any) -> dict[str, Any]:
    """What an admin with this wallet is told by ``porch explain``."""
    browser = portal.browser()
    await browser.sign_in(key)
    token = (await (await register(portal, browser)).tokens())["access_token"]
    answer = await portal.client().get(
        "/admin/explain",
        params={"as": f"oidc:{provider.issuer}#ana"},
        headers={"authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
