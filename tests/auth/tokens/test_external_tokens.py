from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.utils import base64url_encode

from auth.callers import Account
from auth.credentials import BadCredential, UncheckedCredential
from auth.issuers.jwks import Jwks
from auth.stores import NoSuchPerson, Person, Stores
from auth.tiers import Tier
from auth.tokens.external_tokens import CloudflareAccess, ExternalTokens
from tests.auth.clocks import Clock
from tests.auth.stores import empty_stores
from tests.servers.identity_provider import IdentityProvider, Key


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with empty_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
def tokens(provider: IdentityProvider, stores: Stores, clock: Clock) -> ExternalTokens:
    jwks = Jwks(f"{provider.issuer}/jwks", clock=clock)
    return ExternalTokens(
        provider.issuer, "portal", jwks, ("RS256", "ES256"), stores.people.signed_in, clock
    )


@pytest.fixture
def access(provider: IdentityProvider, stores: Stores, clock: Clock) -> CloudflareAccess:
    return CloudflareAccess(provider.issuer, "tag", stores.people.signed_in, clock=clock)


async def test_a_token_makes_a_person_at_first_sight_and_finds_them_again(tokens, provider):
    first = await tokens.identify(provider.mint(), "/mcp")
    again = await tokens.identify(provider.mint(), "/api/v1/tools")
    assert first.person == again.person
    assert first.person.startswith("person:")
    assert first.provider == "oidc"
    assert first.name == "Ana"
    assert first.ceiling is Tier.MEMBERS
    assert first.granted is None
    assert first.tags == {first.person}


async def test_the_account_is_what_the_issuer_says_without_what_it_says_of_the_token(
    tokens, provider
):
    identity = await tokens.identify(provider.mint({"nbf": 1, "jti": "j", "sid": "s"}), "/mcp")
    (account,) = identity.accounts
    assert account.subject == f"oidc:{provider.issuer}#ana"
    assert account.provider == "oidc"
    assert account.email == "ana@example.org"
    assert account.claims == {
        "name": "Ana",
        "email": "Ana@Example.org",
        "email_verified": True,
        "groups": ["core"],
    }


@pytest.mark.parametrize("verified", [False, None, "true", 1])
async def test_an_address_that_is_not_verified_is_no_email(tokens, provider, verified):
    token = provider.mint({"email_verified": verified})
    (account,) = (await tokens.identify(token, "/mcp")).accounts
    assert account.email is None


@pytest.mark.parametrize("name", ["", "   ", "a\0b", "two\nlines", "x" * 256, 7, ["Ana"]])
async def test_a_name_that_cannot_be_shown_is_none(tokens, provider, name):
    (account,) = (await tokens.identify(provider.mint({"name": name}), "/mcp")).accounts
    assert account.name is None


async def test_a_person_who_is_deleted_meanwhile_is_refused_in_words(provider, clock):
    async def gone(account: Account) -> Person:
        raise NoSuchPerson

    jwks = Jwks(f"{provider.issuer}/jwks", clock=clock)
    tokens = ExternalTokens(provider.issuer, "portal", jwks, ("RS256",), gone, clock)
    with pytest.raises(BadCredential, match="deleted just now"):
        await tokens.identify(provider.mint(), "/mcp")


async def test_the_audience_may_be_one_of_several(tokens, provider):
    assert await tokens.identify(provider.mint({"aud": ["other", "portal"]}), "/mcp") is not None


async def test_a_token_signed_by_another_pinned_method_is_good(tokens, provider):
    provider.rotate("ES256")
    assert await tokens.identify(provider.mint(), "/mcp") is not None


async def test_a_new_key_is_found(tokens, provider, clock):
    await tokens.identify(provider.mint(), "/mcp")
    provider.rotate()
    clock.pass_(30)
    assert await tokens.identify(provider.mint(), "/mcp") is not None


@pytest.mark.parametrize("token", ["porch_abc", "", "a.b.c", "e30.e30.e30"])
async def test_what_is_no_jwt_of_the_issuer_is_left_to_others(tokens, token):
    assert await tokens.identify(token, "/mcp") is None


@pytest.mark.parametrize("issuer", ["https://other.example.org", None, "{}/", 7])
async def test_a_token_of_another_issuer_is_left_to_others(tokens, provider, issuer):
    if isinstance(issuer, str):
        issuer = issuer.format(provider.issuer)
    said = json.dumps({"iss": issuer, "sub": "ana", "aud": "portal", "exp": 10**10})
    good = provider.mint().split(".")
    token = ".".join([good[0], base64url_encode(said.encode()).decode(), good[2]])
    assert await tokens.identify(token, "/mcp") is None


async def refused(tokens: Any, token: str) -> str:
    with pytest.raises(BadCredential) as refusal:
        await tokens.identify(token, "/mcp")
    assert token not in refusal.value.reason
    return refusal.value.reason


@pytest.mark.parametrize("audience", ["other", ["other"], [], None, "portal2", "PORTAL"])
async def test_a_token_for_another_audience_is_refused(tokens, provider, audience):
    assert "audience" in await refused(tokens, provider.mint({"aud": audience}))


async def test_clocks_may_be_a_minute_apart_and_no_more(tokens, provider, clock):
    assert await tokens.identify(provider.mint(lifetime=-50), "/mcp") is not None
    assert "expired" in await refused(tokens, provider.mint(lifetime=-70))
    for claim in ["nbf", "iat"]:
        near, far = provider.mint({claim: clock() + 50}), provider.mint({claim: clock() + 90})
        assert await tokens.identify(near, "/mcp") is not None
        assert "not good yet" in await refused(tokens, far)


@pytest.mark.parametrize("exp", [None, "soon", True, float("nan"), float("inf"), 10**400, [1]])
async def test_a_token_without_a_readable_end_is_refused(tokens, provider, exp):
    await refused(tokens, provider.mint({"exp": exp}))


@pytest.mark.parametrize("subject", [None, "", " ", "x" * 256, "a\0b"])
async def test_a_token_about_nobody_is_refused(tokens, provider, subject):
    assert "sub" in await refused(tokens, provider.mint({"sub": subject}))


async def test_a_subject_that_is_no_text_is_refused(tokens, provider):
    payload = json.dumps({"iss": provider.issuer, "sub": 7, "aud": "portal", "exp": 10**10})
    from jwt.api_jws import PyJWS

    headers = {"kid": provider.signs.kid}
    token = PyJWS().encode(payload.encode(), provider.signs.private, "RS256", headers)
    assert "sub" in await refused(tokens, token)


async def test_alg_none_is_refused(tokens, provider):
    assert "signed" in await refused(tokens, provider.mint(algorithm="none"))


def pem(key: Key) -> bytes:
    public: bytes = key.private.public_key().public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )
    return public


async def test_the_public_key_is_no_shared_secret(tokens, provider):
    import hashlib
    import hmac

    public = pem(provider.signs)  # PyJWT would not sign with it, so it is done by hand
    header = json.dumps({"alg": "HS256", "kid": provider.signs.kid}).encode()
    signed = base64url_encode(header).decode() + "." + provider.mint().split(".")[1]
    signature = hmac.new(public, signed.encode(), hashlib.sha256).digest()
    await refused(tokens, f"{signed}.{base64url_encode(signature).decode()}")


async def test_a_method_that_is_not_pinned_is_refused(tokens, provider):
    provider.rotate("EdDSA")
    assert "RS256, ES256" in await refused(tokens, provider.mint())
    provider.rotate("RS256")
    await refused(tokens, provider.mint(algorithm="PS256"))
    await refused(tokens, provider.mint(algorithm="RS512"))


async def test_another_key_under_the_published_id_is_refused(tokens, provider):
    assert "not signed" in await refused(tokens, provider.mint(key=Key().private))


async def test_a_key_that_is_not_published_is_refused(tokens, provider):
    evil = Key()
    token = provider.mint(key=evil.private, header={"kid": evil.kid})
    assert "does not publish" in await refused(tokens, token)
    await refused(tokens, provider.mint(key=evil.private, header={"kid": None}))


async def test_the_key_of_another_issuer_is_refused(tokens, provider, stores, clock):
    with IdentityProvider() as other:
        jwks = Jwks(f"{other.issuer}/jwks", clock=clock)
        others = ExternalTokens(
            other.issuer, "portal", jwks, ("RS256",), stores.people.signed_in, clock
        )
        assert await others.identify(other.mint(), "/mcp") is not None
        await refused(tokens, other.mint({"iss": provider.issuer}))


async def test_the_same_subject_of_two_issuers_is_two_people(tokens, provider, stores, clock):
    with IdentityProvider() as other:
        jwks = Jwks(f"{other.issuer}/jwks", clock=clock)
        others = ExternalTokens(
            other.issuer, "portal", jwks, ("RS256",), stores.people.signed_in, clock
        )
        one = await tokens.identify(provider.mint(), "/mcp")
        two = await others.identify(other.mint(), "/mcp")
    assert one is not None
    assert two is not None
    assert one.person != two.person


async def test_keys_that_a_token_brings_along_or_points_to_are_not_looked_at(tokens, provider):
    evil = Key()
    with IdentityProvider() as attacker:
        attacker.keys = [evil]
        pointers = {
            "jwk": evil.jwk,
            "jku": f"{attacker.issuer}/jwks",
            "x5u": f"{attacker.issuer}/jwks",
            "x5c": [base64url_encode(pem(evil)).decode()],
        }
        for header in pointers:
            for kid in [evil.kid, provider.signs.kid, None]:
                said = {header: pointers[header], "kid": kid}
                await refused(tokens, provider.mint(key=evil.private, header=said))
        assert attacker.asked.total() == 0


async def test_a_changed_claim_breaks_the_signature(tokens, provider):
    head, _, signature = provider.mint(subject="ben").split(".")
    body = provider.mint().split(".")[1]
    assert "not signed" in await refused(tokens, ".".join([head, body, signature]))


async def test_an_unknown_critical_extension_is_refused(tokens, provider):
    await refused(tokens, provider.mint(header={"crit": ["future"], "future": 1}))


@pytest.mark.parametrize("typ", ["JWT", "jwt", "at+jwt", "application/at+jwt", None])
async def test_a_token_of_a_type_that_is_for_access_is_taken(tokens, provider, typ):
    assert await tokens.identify(provider.mint(header={"typ": typ}), "/mcp") is not None


@pytest.mark.parametrize(
    "typ", ["oauth-id-jag+jwt", "logout+jwt", "application/secevent+jwt", "dpop+jwt", "x", 7]
)
async def test_what_the_issuer_signs_for_another_purpose_is_refused(tokens, provider, typ):
    claims = {"client_id": "desk-app", "jti": "once"}
    reason = await refused(tokens, provider.mint(claims, header={"typ": typ}))
    assert "another purpose" in reason


async def test_a_logout_token_without_a_type_of_its_own_is_refused(tokens, provider):
    for typ in (None, "JWT"):
        token = provider.logout_token("ana", header={"typ": typ})
        assert "another purpose" in await refused(tokens, token)


async def test_keys_out_of_reach_leave_a_token_unchecked_and_the_answer_says_so(tokens, provider):
    provider.down = True
    with pytest.raises(UncheckedCredential) as unchecked:
        await tokens.identify(provider.mint(), "/mcp")
    assert "cannot be checked right now" in unchecked.value.reason
    assert "503" in unchecked.value.reason


async def test_a_token_ends_with_its_own_end(tokens, provider, clock):
    identity = await tokens.identify(provider.mint(lifetime=100), "/mcp")
    assert identity.expires == pytest.approx(clock() + 100 + 60, abs=2)


async def test_cloudflare_access_says_who_is_there(access, provider):
    token = provider.mint({"aud": ["tag"], "email_verified": None, "type": "app"})
    identity = await access.identify(token, "/mcp")
    assert identity.provider == "cloudflare-access"
    (account,) = identity.accounts
    assert account.email == "ana@example.org"
    assert account.subject == f"oidc:{provider.issuer}#ana"
    assert provider.asked["/cdn-cgi/access/certs"] == 1


async def test_cloudflare_access_for_another_application_is_refused(access, provider):
    assert "(tag)" in await refused(access, provider.mint())


async def test_a_service_token_of_cloudflare_access_is_refused_clearly(access, provider):
    claims = {"aud": ["tag"], "sub": "", "common_name": "ci.access", "email": None}
    assert "service token" in await refused(access, provider.mint(claims))


@pytest.mark.parametrize("token", ["x", "e30.e30.e30"])
async def test_an_assertion_of_anybody_else_is_refused(access, provider, token):
    assert provider.issuer in await refused(access, token)


async def test_an_empty_assertion_is_refused(access):
    with pytest.raises(BadCredential):
        await access.identify("", "/mcp")


async def test_an_assertion_signed_otherwise_than_cloudflare_does_is_refused(access, provider):
    provider.rotate("ES256")
    assert "RS256" in await refused(access, provider.mint({"aud": ["tag"]}))
