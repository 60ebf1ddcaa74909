"""Attacks with tokens that outlive their owner, or ask for more than they were given."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from auth import Account, Tier
from gateway.observability.audit_table import metadata
from tests.access.attacks import Attacked, OAuthClient, attacked, claims_of, register

EVERYWHERE = ["/mcp", "/mcp/garden", "/members/mcp"]


@pytest.fixture
async def portal() -> AsyncIterator[Attacked]:
    async with attacked() as portal:
        yield portal


@pytest.fixture
async def client(portal: Attacked) -> OAuthClient:
    return await register(portal)


# What outlives its owner, and what it may do.


async def test_the_tokens_of_a_person_who_is_deleted_die_at_once(client: OAuthClient) -> None:
    portal, who = client.portal, client.portal.who
    tokens = await client.tokens()
    person = await who.stores.people.get(claims_of(tokens["access_token"])["sub"])
    assert person is not None
    personal = await portal.api_token(person)
    for token in (tokens["access_token"], personal):
        assert await portal.tier(token) == "members"
    code = await client.code()
    await who.accounts.delete(person.id)
    for token in (tokens["access_token"], personal):
        assert await portal.tier(token) == "refused"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 400
    assert (await client.exchange(code)).status_code == 400
    assert (await client.browser.get("/account")).headers["location"] == "/signin?next=/account"


async def test_signing_out_everywhere_ends_clients_browsers_and_codes(client: OAuthClient) -> None:
    portal, who = client.portal, client.portal.who
    tokens = await client.tokens()
    person = await who.stores.people.get(claims_of(tokens["access_token"])["sub"])
    assert person is not None
    personal = await portal.api_token(person)
    assert await portal.tier(tokens["access_token"]) == "members"
    code = await client.code()
    await who.accounts.sign_out_everywhere(person.id)
    assert await portal.tier(tokens["access_token"]) == "refused"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 400
    assert (await client.exchange(code)).status_code == 400
    assert (await client.browser.get("/account")).status_code == 303
    assert await portal.tier(personal) == "members"
    await who.accounts.sign_out_everywhere(person.id, api_tokens=True)
    assert await portal.tier(personal) == "refused"


async def test_a_wallet_that_is_unlinked_gives_its_person_nothing_any_more() -> None:
    wallet = Account.of_key("0x00000000000000000000000000000000000A11cE")
    github = Account("github:1", "github", "octo", None, {"login": "octo"})
    rule = {"members": {"any_of": [{"address": wallet.id}]}}
    async with attacked(tiers={**TIERS_OF_RULES, "access": rule}) as portal:
        person = await portal.person(wallet)
        await portal.who.accounts.link(person.id, github)
        token = await portal.api_token(person)
        assert await portal.tier(token) == "members"
        await portal.who.accounts.unlink(person.id, wallet.subject)
        assert await portal.tier(token) != "members"
        again = await portal.person(wallet)
        assert again.id != person.id


TIERS_OF_RULES = {
    "default": "members",
    "items": {"garden": "open", "garden/water": "public", "garden/harvest": "members"},
}


async def test_an_admins_api_token_and_a_limited_grant_are_no_admin() -> None:
    wallet = Account.of_key("0x00000000000000000000000000000000000A11cE")
    rules = {
        "members": {"any_of": ["signed_in"]},
        "admins": {"any_of": [{"address": wallet.id}]},
    }
    tiers = {**TIERS_OF_RULES, "access": rules}
    async with attacked(base="https://porch.example", tiers=tiers) as portal:
        admin = await portal.person(wallet)
        session, _ = await _granted(portal, admin.id, ("public", "members"))
        narrow, _ = await _granted(portal, admin.id, ("public",))
        texts = {
            session: 200,
            narrow: 403,
            await portal.api_token(admin): 403,
            await portal.api_token(admin, tools={"look"}): 403,
        }
        for token, status in texts.items():
            headers = {"authorization": f"Bearer {token}"}
            answer = await portal.client().get("/admin/explain?as=anonymous", headers=headers)
            assert answer.status_code == status
        assert (await portal.client().get("/admin/explain?as=anonymous")).status_code in {401, 403}


async def _granted(portal: Attacked, person: str, scope: tuple[str, ...]) -> tuple[str, int]:
    """An access token of a person with a scope."""
    from datetime import UTC, datetime

    from auth.stores import Code, Grant, digest

    now = datetime.now(UTC)
    grant = Grant(f"grant-{scope}", person, "client", "Client", portal.base, scope, now)
    code = Code(grant.id, REDIRECT_OF_NOBODY, True, "c" * 43, now)
    await portal.who.stores.grants.add(grant, code, digest(repr(scope)))
    return portal.who.access_tokens.issue(grant, portal.base)


REDIRECT_OF_NOBODY = "https://client.example/"


async def test_a_scope_and_a_tokens_tier_are_ceilings_and_never_rights() -> None:
    tiers = {**TIERS_OF_RULES, "access": {"public": {"any_of": ["signed_in"]}}}
    async with attacked(tiers=tiers) as portal:
        client = await register(portal)
        wide = (await client.tokens(scope="public members admin openid"))["access_token"]
        assert await portal.tier(wide) == "public"
        assert await portal.tier(await portal.api_token(await portal.person())) == "public"
    async with attacked() as portal:
        person = await portal.person()
        narrow = await portal.api_token(person, ceiling=Tier.PUBLIC)
        assert await portal.tier(narrow) == "public"


async def test_a_refresh_cannot_widen_what_was_granted(client: OAuthClient) -> None:
    tokens = await client.tokens(scope="public")
    answer = await client.refresh(tokens["refresh_token"], scope="public members")
    if answer.status_code == 200:
        assert await client.portal.tier(answer.json()["access_token"]) == "public"
    else:
        assert answer.json()["error"] == "invalid_scope"


async def test_a_token_for_one_tool_runs_no_other(portal: Attacked) -> None:
    token = await portal.api_token(await portal.person(), tools={"look"})
    assert await portal.tier(token) == "open"
    headers = {"authorization": f"Bearer {token}"}
    answer = await portal.portal.get("/api/v1/garden/beds/north", headers=headers)
    assert answer.status_code == 200
    made = await portal.portal.http("open").post(
        "/mcp",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "harvest", "arguments": {}, "_meta": META_OF_CALL},
        },
        headers={
            **headers,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "harvest",
        },
    )
    assert "Harvested" not in made.text


META_OF_CALL = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("name", ["access_token", "token", "api_key", "authorization", "bearer"])
async def test_a_token_in_the_address_identifies_nobody(portal: Attacked, name: str) -> None:
    token = await portal.api_token(await portal.person())
    tier = await portal.tier(query=f"?{name}={token}")
    assert tier == ("refused" if name == "access_token" else "open")
    before = await portal.rows()
    await portal.who.api_tokens.settled()
    assert await portal.rows() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "porch_x"},
        {"authorization": "Token porch_x"},
        {"authorization": "Basic dXNlcjpwYXNz"},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer porch_"},
        {"authorization": "Bearer null"},
        {"authorization": ""},
        {"authorization": "Bearer \xff\xfe"},
        {"authorization": "Bearer " + "a." * 9000},
        {"authorization": "Bearer " + "é.é.é"},
    ],
)
async def test_a_bad_credential_is_refused_and_never_a_step_down(
    portal: Attacked, headers: dict[str, str]
) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    answer = await portal.client().post("/mcp", json={}, headers=raw)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")


# The time that a comparison takes says nothing, where only digests are looked up.


async def test_no_table_and_no_memory_holds_the_text_of_a_secret(client: OAuthClient) -> None:
    portal = client.portal
    tokens = await client.tokens()
    code = await client.code()
    personal = await portal.api_token(await portal.person())
    cookie = next(c.value for c in client.browser.client.cookies.jar if c.name == "porch_session")
    secrets = [tokens["access_token"], tokens["refresh_token"], code, personal, cookie]
    for token in (tokens["access_token"], personal):
        assert await portal.tier(token) == "members"
    await portal.who.api_tokens.settled()
    found = []
    async with portal.portal.running.services.shared_database.engine.connect() as connection:
        for table in metadata.tables.values():
            found += [repr(tuple(row)) for row in await connection.execute(select(table))]
    assert found
    remembered = repr(portal.who.authenticator._known)
    for secret in secrets:
        assert not [row for row in found if secret in row]
        assert secret not in remembered
    assert hashlib.sha256(personal.encode()).hexdigest() in "".join(found)


async def test_every_comparison_with_a_secret_takes_the_same_time() -> None:
    """The means, not the clock: what is compared with a secret is compared by one function."""
    import inspect

    from auth import sealer as sealing
    from auth.sign_in import oidc, redirects, wallet
    from gateway.surfaces.pages import forms

    for module in (oidc, redirects, sealing, wallet, forms):
        assert "hmac.compare_digest(" in inspect.getsource(module), module.__name__
