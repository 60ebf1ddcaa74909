from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest

from auth.callers import Account
from auth.credentials import BadCredential
from auth.portal_addresses import Site
from auth.stores import Code, Grant, Person, Stores, digest, utc_now
from auth.tiers import Tier
from auth.tokens.access_tokens import AccessTokens
from auth.tokens.jwt_checks import unverified
from auth.tokens.signing_keys import KEY_PERIOD_S, SigningKeys
from tests.auth.clocks import Clock
from tests.auth.stores import empty_stores

BASE = "https://portal.example.org"
KEY = b"k" * 32


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with empty_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
async def person(stores: Stores) -> Person:
    return await stores.people.signed_in(Account("github:7", "github", name="ana"))


@pytest.fixture
async def grant(stores: Stores, person: Person) -> Grant:
    return await granted(stores, person)


async def granted(stores: Stores, person: Person, **changes: Any) -> Grant:
    now = utc_now()
    grant = Grant(
        id="g" * 20,
        person=person.id,
        client_id="https://client.example.org/metadata.json",
        client_name="A Client",
        resource=BASE,
        scope=("public", "members"),
        created=now,
    )
    grant = replace(grant, **changes)
    code = Code(grant.id, "http://127.0.0.1/cb", True, "c" * 43, now + timedelta(minutes=1))
    await stores.grants.add(grant, code, digest(f"code-{grant.id}"))
    return grant


@pytest.fixture
def clock() -> Clock:
    return Clock(1000 * KEY_PERIOD_S + 1000)


@pytest.fixture
def keys(clock: Clock) -> SigningKeys:
    return SigningKeys(KEY, clock)


@pytest.fixture
def tokens(stores: Stores, keys: SigningKeys, clock: Clock) -> AccessTokens:
    site = Site(BASE, local=False)
    return AccessTokens(keys, site, stores.people, stores.grants, 900, clock)


async def test_a_token_proves_who_consented_and_to_which_client(tokens, grant, person):
    text, expires_in = tokens.issue(grant, BASE)
    identity = await tokens.identify(text, "/mcp")
    assert identity is not None
    assert expires_in == 900
    assert (identity.person, identity.name, identity.client) == (person.id, "ana", "A Client")
    assert identity.provider == "access-token"
    assert identity.accounts == person.accounts
    assert identity.granted is None
    assert identity.ceiling is Tier.MEMBERS
    assert identity.tags == {f"grant:{grant.id}", person.id}


async def test_its_claims_are_those_of_rfc_9068(tokens, grant, person, keys, clock):
    text, _ = tokens.issue(grant, BASE)
    read = unverified(text)
    assert read is not None
    assert dict(read.header) == {"typ": "at+jwt", "alg": "EdDSA", "kid": keys.current().kid}
    claims = dict(read.claims)
    assert claims.pop("jti")
    assert claims == {
        "iss": BASE,
        "sub": person.id,
        "aud": BASE,
        "client_id": grant.client_id,
        "scope": "public members",
        "iat": int(clock.now),
        "exp": int(clock.now) + 900,
        "grant": grant.id,
    }


async def test_no_two_tokens_are_the_same(tokens, grant):
    assert tokens.issue(grant, BASE) != tokens.issue(grant, BASE)


@pytest.mark.parametrize(
    ("scope", "ceiling"),
    [("public", Tier.PUBLIC), ("members public", Tier.MEMBERS), ("", Tier.OPEN), ("x", Tier.OPEN)],
)
async def test_the_scope_is_a_ceiling(tokens, grant, scope, ceiling):
    text, _ = tokens.issue(grant, BASE, scope=scope.split())
    assert (await tokens.identify(text, "/mcp")).ceiling is ceiling


async def test_a_token_signed_just_before_the_keys_change_is_good_after_it(tokens, grant, clock):
    clock.now = 1001 * KEY_PERIOD_S - 5
    text, _ = tokens.issue(grant, BASE)
    clock.pass_(10)
    assert await tokens.identify(text, "/mcp") is not None


@pytest.mark.parametrize("apart", [-5, 5])
async def test_replicas_whose_clocks_are_a_little_apart_take_each_others_tokens(
    tokens, grant, clock, apart
):
    clock.now = 1001 * KEY_PERIOD_S
    text, _ = tokens.issue(grant, BASE, now=clock.now + apart)
    assert await tokens.identify(text, "/mcp") is not None


async def test_an_expired_token_says_so(tokens, grant, clock):
    text, _ = tokens.issue(grant, BASE)
    clock.pass_(900 + 5)
    with pytest.raises(BadCredential, match=r"^The access token has expired\. Refresh it\.$"):
        await tokens.identify(text, "/mcp")


async def test_a_token_from_the_future_is_refused(tokens, grant, clock):
    text, _ = tokens.issue(grant, BASE, now=clock.now + 60)
    with pytest.raises(BadCredential, match="not good yet"):
        await tokens.identify(text, "/mcp")


@pytest.mark.parametrize("path", ["/mcp", "/members/mcp", "/mcp/knowledge", "/api/v1/tools"])
async def test_a_token_for_the_base_is_good_everywhere(tokens, grant, path):
    text, _ = tokens.issue(grant, BASE)
    assert await tokens.identify(text, path) is not None


async def test_a_token_for_a_longer_path_is_good_only_there(tokens, stores, person):
    grant = await granted(stores, person, resource=f"{BASE}/mcp/knowledge")
    text, _ = tokens.issue(grant, BASE)
    assert await tokens.identify(text, "/mcp/knowledge") is not None
    for path in ["/mcp", "/mcp/other", "/mcp/knowledge/more"]:
        with pytest.raises(BadCredential) as refusal:
            await tokens.identify(text, path)
        assert f"{BASE}/mcp/knowledge" in refusal.value.reason
        assert path in refusal.value.reason


async def test_a_token_for_another_server_is_refused(tokens, stores, person):
    grant = await granted(stores, person, resource="https://other.example.org")
    text, _ = tokens.issue(grant, BASE)
    with pytest.raises(BadCredential, match=r"is for https://other\.example\.org"):
        await tokens.identify(text, "/mcp")


async def test_a_revoked_grant_ends_its_tokens(tokens, grant, stores):
    text, _ = tokens.issue(grant, BASE)
    await stores.grants.revoke([grant.id])
    with pytest.raises(BadCredential, match="revoked"):
        await tokens.identify(text, "/mcp")


async def test_a_deleted_person_has_no_tokens(tokens, grant, stores, person):
    text, _ = tokens.issue(grant, BASE)
    await stores.people.delete(person.id)
    with pytest.raises(BadCredential):
        await tokens.identify(text, "/mcp")


async def test_a_token_is_not_good_for_somebody_elses_grant(tokens, grant, stores):
    other = await stores.people.signed_in(Account("github:8", "github"))
    text, _ = tokens.issue(replace(grant, person=other.id), BASE)
    with pytest.raises(BadCredential, match="revoked"):
        await tokens.identify(text, "/mcp")


@pytest.mark.parametrize(
    "token", ["porch_abc", "a.b.c", "", "..", "a.b", "é.b.c", "e30.e30.", "W10.W10.x", "x" * 20_000]
)
async def test_what_is_no_jwt_of_ours_is_left_to_others(tokens, token):
    assert await tokens.identify(token, "/mcp") is None


async def test_a_jwt_of_another_issuer_is_left_to_others(tokens, grant):
    text, _ = tokens.issue(grant, "https://other.example.org")
    assert await tokens.identify(text, "/mcp") is None


async def test_a_longer_token_than_any_of_ours_is_not_read(tokens, grant, keys):
    text, _ = tokens.issue(replace(grant, client_id="c" * 20_000), BASE)
    assert await tokens.identify(text, "/mcp") is None


def forged(claims: dict[str, Any], key: Any, algorithm: str, **header: Any) -> str:
    return jwt.encode(claims, key, algorithm, header)


async def test_no_forged_token_is_taken(tokens, grant, keys, clock):
    text, _ = tokens.issue(grant, BASE)
    found = unverified(text)
    assert found is not None
    claims = dict(found.claims)
    current = keys.current()
    kid, public = current.kid, current.private.public_key().public_bytes_raw()
    other = SigningKeys(b"o" * 32, clock).current()
    head, body, signature = text.split(".")
    attacks = {
        "alg none": forged(claims, None, "none", typ="at+jwt", kid=kid),
        "alg none, our signature": forged(claims, None, "none").rstrip(".") + "." + signature,
        "the public key as a secret": forged(claims, public, "HS256", typ="at+jwt", kid=kid),
        "another portal's key": forged(claims, other.private, "EdDSA", typ="at+jwt", kid=kid),
        "another portal's kid": forged(claims, other.private, "EdDSA", typ="at+jwt", kid=other.kid),
        "a key that it brings along": forged(
            claims, other.private, "EdDSA", typ="at+jwt", kid=other.kid, jwk=other.jwk
        ),
        "another kind of JWT": forged(claims, current.private, "EdDSA", typ="JWT", kid=kid),
        "no kid": forged(claims, current.private, "EdDSA", typ="at+jwt"),
        "critical extension": forged(
            claims, current.private, "EdDSA", typ="at+jwt", kid=kid, crit=["x"], x=1
        ),
        "no signature": f"{head}.{body}.",
        "no end": forged({**claims, "exp": None}, current.private, "EdDSA", typ="at+jwt", kid=kid),
        "an end that is no number": forged(
            {**claims, "exp": float("nan")}, current.private, "EdDSA", typ="at+jwt", kid=kid
        ),
    }
    for name, attack in attacks.items():
        with pytest.raises(BadCredential):
            assert await tokens.identify(attack, "/mcp"), name


async def test_a_changed_claim_breaks_the_signature(tokens, grant):
    low, _ = tokens.issue(grant, BASE, scope=["public"])
    high, _ = tokens.issue(grant, BASE)
    head, _, signature = low.split(".")
    with pytest.raises(BadCredential, match="not signed"):
        await tokens.identify(".".join([head, high.split(".")[1], signature]), "/mcp")


async def test_a_local_portal_takes_its_tokens_at_every_loopback_name(stores, keys, clock, person):
    site = Site("http://127.0.0.1:8321", local=True)
    tokens = AccessTokens(keys, site, stores.people, stores.grants, 900, clock)
    grant = await granted(stores, person, resource="http://localhost:8321")
    text, _ = tokens.issue(grant, "http://localhost:8321")
    assert await tokens.identify(text, "/mcp") is not None
