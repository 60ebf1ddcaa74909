"""Tokens that clients get for people, by the word of an identity provider (ID-JAG)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider

from tests.gateway.surfaces.oauth.assertions import (
    BASE,
    JWT_BEARER,
    Kept,
    Portal,
    called_by,
    problem,
)


async def test_a_provider_s_word_is_its_person_up_to_what_it_grants(world: Portal) -> None:
    answer = await world.for_ana()
    assert answer.json()["scope"] == "public members"
    who = await world.whoami(answer)
    assert who.startswith("person:")
    again = await world.for_ana(world.word(scope="public"), scope="members public")
    assert again.json()["scope"] == "public"
    assert (await world.whoami(again)).split()[0] == who.split()[0]
    person = await world.portal.running.authentication.stores.people.get(who.split()[0])
    assert person is not None
    assert [each.subject for each in person.accounts] == [f"oidc:{world.provider.issuer}#ana"]


async def test_its_grants_are_few_and_can_be_revoked(world: Portal) -> None:
    who = world.portal.running.authentication
    first, second = await world.for_ana(), await world.for_ana()
    person = (await world.whoami(first)).split()[0]
    assert person == (await world.whoami(second)).split()[0]
    (grant,) = await who.stores.grants.of(person)
    assert (grant.client_name, grant.resource) == ("Nightly", f"{BASE}/mcp")
    assert await who.accounts.revoke_grant(person, grant.id)
    said = {"authorization": f"Bearer {first.json()['access_token']}"}
    refused = await world.portal.http("open").post("/mcp", headers=said, json={})
    assert refused.status_code == 401


WRONG_WORD: list[tuple[str, dict[str, Any], str]] = [
    ("another issuer", {"iss": "https://other.example"}, "invalid_grant"),
    ("nobody", {"sub": None}, "invalid_grant"),
    ("another server", {"aud": "https://other.example"}, "invalid_grant"),
    ("the token endpoint", {"aud": f"{BASE}/token"}, "invalid_grant"),
    ("two servers", {"aud": [BASE, "https://other.example"]}, "invalid_grant"),
    ("another client", {"client_id": "agent"}, "invalid_grant"),
    ("no client", {"client_id": None}, "invalid_grant"),
    ("no resource", {"resource": None}, "invalid_grant"),
    ("another's resource", {"resource": "https://other.example/mcp"}, "invalid_grant"),
    ("no resource of MCP", {"resource": f"{BASE}/account"}, "invalid_grant"),
    ("no end", {"exp": None}, "invalid_grant"),
    ("over", {"exp": int(time.time()) - 3600}, "invalid_grant"),
    ("too long", {"exp": int(time.time()) + 86_400}, "invalid_grant"),
    ("undated", {"iat": None}, "invalid_grant"),
    ("made in the future", {"iat": int(time.time()) + 3600}, "invalid_grant"),
    ("no id", {"jti": None}, "invalid_grant"),
    ("a scope that is no text", {"scope": ["public"]}, "invalid_grant"),
    ("a scope that is none here", {"scope": "chat.read"}, "invalid_scope"),
    ("no scope at all", {"scope": ""}, "invalid_scope"),
]


@pytest.mark.parametrize(("what", "changed", "error"), WRONG_WORD)
async def test_one_wrong_claim_and_nobody_is_vouched_for(
    world: Portal, what: str, changed: dict[str, Any], error: str
) -> None:
    assert problem(await world.for_ana(world.word(**changed))) == error, what


@pytest.mark.parametrize(
    "header", [{"typ": "JWT"}, {"typ": "at+jwt"}, {"typ": None}, {"crit": ["x"]}, {"kid": "no"}]
)
async def test_one_wrong_header_and_nobody_is_vouched_for(
    world: Portal, header: dict[str, Any]
) -> None:
    assert problem(await world.for_ana(world.word(header))) == "invalid_grant"


async def test_a_word_for_another_resource_than_is_asked_for_is_not_taken(world: Portal) -> None:
    answer = await world.for_ana(resource=f"{BASE}/mcp/desk")
    assert problem(answer) == "invalid_target"


async def test_an_id_token_of_the_same_provider_is_no_word(world: Portal) -> None:
    assert problem(await world.for_ana(world.provider.mint())) == "invalid_grant"


async def test_a_provider_may_turn_its_keys(world: Portal) -> None:
    assert (await world.for_ana()).status_code == 200
    old = world.word()
    world.provider.rotate("ES256", keep=True)
    assert (await world.for_ana(old)).status_code == 200


async def test_a_client_that_has_a_secret_may_bring_a_word_and_a_public_one_not(
    world: Portal,
) -> None:
    http = world.portal.http("open")
    for method, status in (("client_secret_post", 200), ("none", 401)):
        asked = {"redirect_uris": ["https://c.example/cb"], "token_endpoint_auth_method": method}
        client = (await http.post("/register", json=asked)).json()
        form = {"grant_type": JWT_BEARER, "client_id": client["client_id"]}
        form["assertion"] = world.word(client_id=client["client_id"])
        form["client_secret"] = client.get("client_secret") or "guessed"
        assert (await http.post("/token", data=form)).status_code == status
        if status == 200:
            form |= {"assertion": world.word(client_id=client["client_id"]), "client_secret": "x"}
            assert problem(await http.post("/token", data=form)) == "invalid_client"


async def test_the_sdk_s_client_of_a_company_gets_a_token_for_its_person(world: Portal) -> None:
    asked = {
        "redirect_uris": ["https://c.example/cb"],
        "token_endpoint_auth_method": "client_secret_post",
    }
    client = (await world.portal.http("open").post("/register", json=asked)).json()
    seen = []

    async def word(audience: str, resource: str) -> str:
        seen.append((audience, resource))
        return world.word(client_id=client["client_id"], aud=audience, resource=resource)

    kept = Kept()
    auth = IdentityAssertionOAuthProvider(
        f"{BASE}/members/mcp", kept, client["client_id"], client["client_secret"], BASE, word
    )
    assert (await called_by(world.portal, auth)).status_code != 401
    assert seen == [(BASE, f"{BASE}/members/mcp")]
    assert kept.tokens is not None
