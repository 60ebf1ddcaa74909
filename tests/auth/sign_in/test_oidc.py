from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import pytest

from auth.callers import Account
from auth.credentials import BadCredential
from auth.sign_in.oidc import OidcSignIn
from auth.sign_in.redirects import AuthorizationRequest, RedirectSignIn
from tests.servers.identity_provider import IdentityProvider, Key

CALLBACK = "https://portal.example.org/signin/oidc/callback"


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def sign_in(provider: IdentityProvider) -> OidcSignIn:
    return OidcSignIn("Example ID", provider.issuer, "portal", provider.client_secret)


async def visited(url: str) -> dict[str, str]:
    """What the provider sends a browser back with."""
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    location = answer.headers["location"]
    assert location.partition("?")[0] == CALLBACK
    return dict(parse_qsl(urlsplit(location).query))


async def signed_in(sign_in: RedirectSignIn, **changes: str) -> Account:
    begun = await sign_in.begin(CALLBACK)
    return await sign_in.finish(CALLBACK, {**await visited(begun.url), **changes}, begun.remembered)


async def refused(sign_in: RedirectSignIn, **changes: str) -> str:
    with pytest.raises(BadCredential) as refusal:
        await signed_in(sign_in, **changes)
    return refusal.value.reason


async def test_a_person_signs_in(sign_in, provider):
    assert await signed_in(sign_in) == Account(
        subject=f"oidc:{provider.issuer}#ana",
        provider="oidc",
        name="Ana",
        email="ana@example.org",
        claims={
            "name": "Ana",
            "email": "Ana@Example.org",
            "email_verified": True,
            "groups": ["core"],
        },
    )
    assert provider.asked["/userinfo"] == 0


async def test_the_browser_is_sent_with_pkce_state_and_nonce(sign_in, provider):
    begun = await sign_in.begin(CALLBACK)
    asked = {name: value for name, (value,) in parse_qs(urlsplit(begun.url).query).items()}
    assert asked["redirect_uri"] == CALLBACK
    assert asked["scope"] == "openid profile email"
    assert asked["code_challenge_method"] == "S256"
    assert asked["state"] == begun.remembered["state"]
    assert asked["nonce"] == begun.remembered["nonce"]
    assert begun.remembered["verifier"] not in begun.url
    assert provider.client_secret not in begun.url


async def test_a_person_who_is_asked_first_chooses_who_to_be(sign_in, provider):
    provider.approves = None
    begun = await sign_in.begin(CALLBACK)
    async with httpx2.AsyncClient() as browser:
        page = await browser.get(begun.url)
    assert '<button name="as" value="ben">Sign in as ben</button>' in page.text
    query = await visited(f"{begun.url}&as=ben")
    account = await sign_in.finish(CALLBACK, query, begun.remembered)
    assert (account.name, account.email) == ("Ben", None)


async def test_no_two_sign_ins_share_a_secret(sign_in):
    one, two = await sign_in.begin(CALLBACK), await sign_in.begin(CALLBACK)
    assert not set(one.remembered.values()) & set(two.remembered.values())


async def test_a_public_client_needs_no_secret():
    with IdentityProvider(client_secret=None) as provider:
        sign_in = OidcSignIn("Example ID", provider.issuer, "portal")
        assert (await signed_in(sign_in)).name == "Ana"


@pytest.mark.parametrize("methods", [["client_secret_post"], ["client_secret_basic"], None])
async def test_the_secret_is_sent_as_the_provider_wants_it(sign_in, provider, methods):
    provider.metadata_changes = {"token_endpoint_auth_methods_supported": methods}
    assert (await signed_in(sign_in)).name == "Ana"


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256"])
async def test_an_id_token_may_be_signed_by_any_asymmetric_method(sign_in, provider, algorithm):
    provider.rotate(algorithm)
    assert (await signed_in(sign_in)).name == "Ana"


async def test_at_hash_of_ed25519_is_half_of_sha512(sign_in, provider):
    provider.rotate("EdDSA")
    assert "fit together" in await refused(sign_in)  # the server always uses SHA-256
    provider.id_token_changes = {"at_hash": None}
    assert (await signed_in(sign_in)).name == "Ana"


async def test_what_the_id_token_lacks_is_asked_for(sign_in, provider):
    provider.in_id_token = False
    account = await signed_in(sign_in)
    assert (account.name, account.email) == ("Ana", "ana@example.org")
    assert account.claims["groups"] == ["core"]
    assert provider.asked["/userinfo"] == 1


async def test_userinfo_about_somebody_else_is_refused(sign_in, provider):
    provider.in_id_token = False
    provider.userinfo_changes = {"sub": "ben"}
    assert "two different people" in await refused(sign_in)


async def test_a_verified_address_is_not_mixed_with_another(sign_in, provider):
    provider.id_token_changes = {"email": "victim@example.org", "email_verified": None}
    account = await signed_in(sign_in)
    assert provider.asked["/userinfo"] == 1
    assert account.email is None
    provider.id_token_changes = {"email": None, "email_verified": True, "name": None}
    provider.userinfo_changes = {"email": "victim@example.org", "email_verified": False}
    assert (await signed_in(sign_in)).email is None


async def test_a_provider_without_userinfo_is_believed_as_it_is(sign_in, provider):
    provider.in_id_token = False
    provider.metadata_changes = {"userinfo_endpoint": None}
    account = await signed_in(sign_in)
    assert (account.name, account.email) == (None, None)


async def test_who_declines_is_told_so_in_plain_words(sign_in, provider):
    provider.approves = "-"
    assert (await refused(sign_in)).startswith("You did not agree to sign in with Example ID")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("temporarily_unavailable", "Try again in a few minutes"),
        ("invalid_scope", "(invalid_scope)"),
        ("<script>", "(an unknown error)"),
    ],
)
async def test_an_error_of_the_provider_is_told(sign_in, error, words):
    reason = await refused(sign_in, error=error)
    assert words in reason
    assert "<" not in reason


@pytest.mark.parametrize("state", ["", "another", "é"])
async def test_an_answer_to_another_browser_is_refused(sign_in, state):
    assert "not begun in this browser" in await refused(sign_in, state=state)


async def test_an_answer_without_anything_remembered_is_refused(sign_in):
    begun = await sign_in.begin(CALLBACK)
    query = await visited(begun.url)
    for remembered in [{}, {"state": ""}, {"state": None}, {"state": 7}]:
        with pytest.raises(BadCredential, match="not begun in this browser"):
            await sign_in.finish(CALLBACK, query, remembered)
        with pytest.raises(BadCredential, match="not begun in this browser"):
            await sign_in.finish(CALLBACK, {**query, "state": ""}, remembered)


async def test_an_answer_without_a_code_is_refused(sign_in):
    assert "no answer that can be used" in await refused(sign_in, code="")


async def test_a_code_is_good_once(sign_in):
    begun = await sign_in.begin(CALLBACK)
    query = await visited(begun.url)
    await sign_in.finish(CALLBACK, query, begun.remembered)
    with pytest.raises(BadCredential, match="Sign in again"):
        await sign_in.finish(CALLBACK, query, begun.remembered)


async def test_a_code_of_another_browser_fails_by_pkce(sign_in):
    victim, attacker = await sign_in.begin(CALLBACK), await sign_in.begin(CALLBACK)
    code = (await visited(attacker.url))["code"]
    query = {**await visited(victim.url), "code": code}
    with pytest.raises(BadCredential, match="does not take its answer back"):
        await sign_in.finish(CALLBACK, query, victim.remembered)


@pytest.mark.parametrize("iss", ["https://other.example.org", ""])
async def test_an_answer_from_another_provider_is_refused(sign_in, iss):
    assert "does not come from Example ID" in await refused(sign_in, iss=iss)


async def test_a_wrong_sender_is_refused_even_where_none_was_promised(sign_in, provider):
    provider.metadata_changes = {"authorization_response_iss_parameter_supported": False}
    assert "does not come from" in await refused(sign_in, iss="https://other.example.org")


async def test_an_answer_must_name_its_sender_if_the_provider_promised_it(sign_in, provider):
    for promised, fails in [(True, True), (False, False), (None, False)]:
        provider.metadata_changes = {"authorization_response_iss_parameter_supported": promised}
        another = OidcSignIn("Example ID", provider.issuer, "portal", provider.client_secret)
        begun = await another.begin(CALLBACK)
        query = await visited(begun.url)
        del query["iss"]
        if fails:
            with pytest.raises(BadCredential, match="does not come from"):
                await another.finish(CALLBACK, query, begun.remembered)
        else:
            assert await another.finish(CALLBACK, query, begun.remembered)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nonce": "another"}, "belongs to another sign-in"),
        ({"nonce": None}, "belongs to another sign-in"),
        ({"aud": "another"}, "another application"),
        ({"aud": ["another"]}, "another application"),
        ({"aud": ["portal", "another"]}, "another application"),
        ({"aud": ["portal", "another"], "azp": "another"}, "another application"),
        ({"azp": "another"}, "another application"),
        ({"aud": None}, "another application"),
        ({"iss": "https://other.example.org"}, "no ID token of its own"),
        ({"exp": 1}, "expired"),
        ({"exp": None}, "when it ends"),
        ({"iat": time.time() + 3600}, "not good yet"),
        ({"at_hash": "another"}, "fit together"),
        ({"sub": None}, "sub"),
    ],
)
async def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    sign_in, provider, change, words
):
    provider.id_token_changes = change
    assert words in await refused(sign_in)


@pytest.mark.parametrize(
    "change", [{"aud": ["portal", "another"], "azp": "portal"}, {"at_hash": None}]
)
async def test_an_id_token_that_is_for_this_sign_in_too_is_good(sign_in, provider, change):
    provider.id_token_changes = change
    assert (await signed_in(sign_in)).name == "Ana"


async def test_an_id_token_of_a_foreign_key_is_refused(sign_in, provider):
    foreign = Key()
    foreign.kid = provider.signs.kid
    provider.signs = foreign
    assert "not signed" in await refused(sign_in)


async def test_an_unsigned_id_token_is_refused(sign_in, provider, monkeypatch):
    mint = provider.mint
    monkeypatch.setattr(provider, "mint", lambda *a, **k: mint(*a, **k, algorithm="none"))
    assert "must be signed" in await refused(sign_in)


async def test_without_an_id_token_nobody_signs_in(sign_in, provider, monkeypatch):
    monkeypatch.setattr(provider, "mint", lambda *a, **k: None)
    assert "no ID token" in await refused(sign_in)


async def test_a_wrong_client_secret_is_the_admins_to_mend(provider):
    sign_in = OidcSignIn("Example ID", provider.issuer, "portal", "wrong-secret")
    reason = await refused(sign_in)
    assert "portal.yaml" in reason
    assert "wrong-secret" not in reason


async def test_another_issuer_than_the_configured_one_is_refused(sign_in, provider):
    provider.metadata_changes = {"issuer": "https://other.example.org"}
    with pytest.raises(BadCredential, match="names another issuer"):
        await sign_in.begin(CALLBACK)


async def test_an_endpoint_that_is_not_safe_is_not_used(sign_in, provider):
    provider.metadata_changes = {"token_endpoint": "http://id.example.org/token"}
    assert "token_endpoint" in await refused(sign_in)


async def test_a_provider_that_does_not_answer_is_named(sign_in, provider):
    provider.down = True
    with pytest.raises(BadCredential, match="Example ID cannot be asked right now"):
        await sign_in.begin(CALLBACK)


async def test_a_provider_that_goes_away_in_between_is_named(sign_in, provider):
    begun: AuthorizationRequest = await sign_in.begin(CALLBACK)
    query: dict[str, Any] = await visited(begun.url)
    provider.down = True
    with pytest.raises(BadCredential, match="Example ID does not answer"):
        await sign_in.finish(CALLBACK, query, begun.remembered)


async def test_nothing_of_a_sign_in_is_repeated_in_a_refusal(sign_in, provider):
    begun = await sign_in.begin(CALLBACK)
    query = await visited(begun.url)
    provider.id_token_changes = {"nonce": "another"}
    with pytest.raises(BadCredential) as refusal:
        await sign_in.finish(CALLBACK, query, begun.remembered)
    secrets = [query["code"], *begun.remembered.values(), provider.client_secret]
    assert not any(secret in refusal.value.reason for secret in secrets)
