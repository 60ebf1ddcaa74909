"""Attacks with tokens: forged, stolen, outlived, meant for somebody else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from auth.portal_addresses import Site
from auth.tokens.access_tokens import AccessTokens
from auth.tokens.signing_keys import SigningKeys
from gateway.config.addresses import DOORS
from tests.access.attacks import BASE, Attacked, OAuthClient, attacked, claims_of, register
from tests.servers.identity_provider import IdentityProvider, Key

EVERYWHERE = ["/mcp", "/mcp/garden", "/members/mcp"]


@pytest.fixture
async def portal() -> AsyncIterator[Attacked]:
    async with attacked() as portal:
        yield portal


@pytest.fixture
async def client(portal: Attacked) -> OAuthClient:
    return await register(portal)


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


def header_of(token: str) -> dict[str, Any]:
    return jwt.get_unverified_header(token)


def part(value: Any) -> str:
    """One part of a token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def hmac_signed(header: dict[str, Any], claims: dict[str, Any], key: bytes) -> str:
    """A token as an attacker makes it, by hand: libraries refuse a public key as a secret."""
    body = f"{part(header)}.{part(claims)}"
    mark = hmac.new(key, body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


def own_keys(portal: Attacked) -> list[bytes]:
    """Every form of the portal's published key that somebody might take for a shared secret."""
    key = portal.who.keys.current()
    raw = key.public.public_bytes_raw()
    forms = (
        (PublicFormat.SubjectPublicKeyInfo, Encoding.PEM),
        (
            PublicFormat.SubjectPublicKeyInfo,
            Encoding.DER,
        ),
    )
    written = [key.public.public_bytes(encoding, form) for form, encoding in forms]
    return [raw, key.jwk["x"].encode(), json.dumps(key.jwk).encode(), *written, b""]


async def test_a_good_token_works_where_it_is_meant_to(client: OAuthClient) -> None:
    token = (await client.tokens())["access_token"]
    for path in EVERYWHERE:
        assert await client.portal.tier(token, path) == "members"


@pytest.mark.parametrize("meant", EVERYWHERE)
async def test_a_token_for_a_longer_path_is_good_nowhere_else(
    client: OAuthClient, meant: str
) -> None:
    token = (await client.tokens(resource=BASE + meant))["access_token"]
    assert claims_of(token)["aud"] == BASE + meant
    good = DOORS if meant in DOORS else {meant}
    for path in EVERYWHERE:
        assert await client.portal.tier(token, path) == ("members" if path in good else "refused")
    for path in ("/api/v1/garden/beds/north", "/readyz", "/", "/account", f"{meant}/more"):
        answer = await client.http.get(path, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 401, path


@pytest.mark.parametrize(
    "audience",
    [
        "https://elsewhere.example/mcp",
        f"{BASE}.evil.example/mcp",
        f"{BASE}@evil.example/mcp",
        f"https://{BASE.removeprefix('http://')}/mcp",
        f"{BASE}/mcp?x=1",
        f"{BASE}/mcp#x",
        f"{BASE}/mc",
        f"{BASE}/mcp/../mcp",
        "/mcp",
        "",
        "*",
        [f"{BASE}/mcp"],
        None,
    ],
)
async def test_a_token_that_the_portal_signed_for_another_audience_is_refused(
    client: OAuthClient, audience: Any
) -> None:
    """Even the portal's own key vouches for nothing but the address in the token."""
    good = claims_of((await client.tokens())["access_token"])
    key = client.portal.who.keys.current()
    changed = {name: value for name, value in {**good, "aud": audience}.items() if value}
    token = jwt.encode(changed, key.private, "EdDSA", {"typ": "at+jwt", "kid": key.kid})
    assert await client.portal.tier(token) == "refused"


@pytest.mark.parametrize("algorithm", ["none", "NONE", "nOnE", ""])
async def test_a_token_without_a_signature_is_refused(client: OAuthClient, algorithm: str) -> None:
    good = (await client.tokens())["access_token"]
    header, claims, signature = good.split(".")
    unsigned = part({**header_of(good), "alg": algorithm})
    for token in (
        f"{unsigned}.{claims}.",
        f"{unsigned}.{claims}.{signature}",
        f"{header}.{claims}.",
        f"{header}.{claims}",
    ):
        assert await client.portal.tier(token) == "refused"


async def test_a_token_signed_with_the_published_key_as_a_shared_secret_is_refused(
    client: OAuthClient,
) -> None:
    good = (await client.tokens())["access_token"]
    for secret in own_keys(client.portal):
        for algorithm in ("HS256", "EdDSA"):
            header = {**header_of(good), "alg": algorithm}
            token = hmac_signed(header, claims_of(good), secret)
            assert await client.portal.tier(token) == "refused"


async def test_a_token_that_brings_its_own_key_along_is_refused(client: OAuthClient) -> None:
    good = (await client.tokens())["access_token"]
    evil = SigningKeys(b"e" * 32).current()
    own = header_of(good)["kid"]
    for kid in (own, evil.kid, None, "", "../../dev/null", 7):
        for brought in ({}, {"jwk": evil.jwk}, {"jku": "http://127.0.0.1:1/jwks"}, {"x5u": "x"}):
            header = {**brought, "typ": "at+jwt", **({} if kid is None else {"kid": kid})}
            body = f"{part({'alg': 'EdDSA', **header})}.{part(claims_of(good))}"
            mark = evil.private.sign(body.encode())
            token = f"{body}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"
            assert await client.portal.tier(token) == "refused"


async def test_no_claim_of_a_token_can_be_changed(client: OAuthClient) -> None:
    good = (await client.tokens(scope="public"))["access_token"]
    header, _, signature = good.split(".")
    assert await client.portal.tier(good) == "public"
    other = await client.portal.person()
    for change in (
        {"scope": "public members"},
        {"sub": other.id},
        {"aud": f"{BASE}/mcp"},
        {"exp": int(time.time()) + 10**6},
        {"grant": "f" * 20},
        {"admin": True},
    ):
        token = f"{header}.{part({**claims_of(good), **change})}.{signature}"
        assert await client.portal.tier(token) == "refused"


async def test_a_token_of_another_portal_with_the_same_address_and_layout_is_refused(
    client: OAuthClient,
) -> None:
    who = client.portal.who
    good = claims_of((await client.tokens())["access_token"])
    grant = await who.stores.grants.get(good["grant"])
    assert grant is not None
    people, grants = who.stores.people, who.stores.grants
    foreign = AccessTokens(SigningKeys(b"o" * 32), Site(BASE, local=True), people, grants, 900)
    assert await client.portal.tier(foreign.issue(grant, BASE)[0]) == "refused"


async def test_a_token_of_another_issuer_that_names_this_portal_as_its_audience_is_refused(
    client: OAuthClient,
) -> None:
    good = claims_of((await client.tokens())["access_token"])
    key = client.portal.who.keys.current()
    for issuer in ("https://elsewhere.example", f"{BASE}/mcp", f"{BASE}.evil.example", None):
        changed = {name: value for name, value in {**good, "iss": issuer}.items() if value}
        token = jwt.encode(changed, key.private, "EdDSA", {"typ": "at+jwt", "kid": key.kid})
        assert await client.portal.tier(token) == "refused"


async def test_a_text_that_the_portal_signed_for_another_purpose_is_no_access_token(
    client: OAuthClient,
) -> None:
    tokens = await client.tokens()
    code = await client.code()
    cookie = next(c.value for c in client.browser.client.cookies.jar if c.name == "porch_session")
    for text in (tokens["refresh_token"], code, client.client_id, cookie):
        assert await client.portal.tier(text) == "refused"
    key = client.portal.who.keys.current()
    claims = claims_of(tokens["access_token"])
    for typ in ("JWT", "jwt", "logout+jwt", None):
        token = jwt.encode(claims, key.private, "EdDSA", {"typ": typ, "kid": key.kid})
        assert await client.portal.tier(token) == "refused"


async def test_a_token_is_no_good_after_its_time(client: OAuthClient) -> None:
    who = client.portal.who
    good = claims_of((await client.tokens())["access_token"])
    grant = await who.stores.grants.get(good["grant"])
    assert grant is not None
    now = time.time()
    old, _ = who.access_tokens.issue(grant, BASE, now - 900 - 6)
    early, _ = who.access_tokens.issue(grant, BASE, now + 60)
    fresh, _ = who.access_tokens.issue(grant, BASE, now)
    tiers = [await client.portal.tier(token) for token in (old, early, fresh)]
    assert tiers == ["refused", "refused", "members"]


async def test_a_token_without_an_end_is_refused(client: OAuthClient) -> None:
    good = claims_of((await client.tokens())["access_token"])
    key = client.portal.who.keys.current()
    for end in (None, "never", float("inf"), 2**70, True, [9**9]):
        changed = {name: value for name, value in {**good, "exp": end}.items() if value is not None}
        body = f"{part({'alg': 'EdDSA', 'typ': 'at+jwt', 'kid': key.kid})}.{part(changed)}"
        mark = base64.urlsafe_b64encode(key.private.sign(body.encode())).rstrip(b"=").decode()
        assert await client.portal.tier(f"{body}.{mark}") == "refused"


async def test_a_signature_by_a_key_of_long_ago_is_refused(client: OAuthClient) -> None:
    good = claims_of((await client.tokens())["access_token"])
    long_ago = SigningKeys(client.portal.who.key, lambda: time.time() - 200 * 86400).current()
    token = jwt.encode(good, long_ago.private, "EdDSA", {"typ": "at+jwt", "kid": long_ago.kid})
    assert await client.portal.tier(token) == "refused"


# Tokens of other issuers. The portal is not on this machine, as their provider is: to one that
# is, every address here is its own.

PUBLIC = "https://porch.example"


def accepting(provider: IdentityProvider, **changed: Any) -> dict[str, Any]:
    entry = {"issuer": provider.issuer, "audience": "portal", **changed}
    return {"base": PUBLIC, "sign_in": {"accept": [entry]}}


def evil_tokens(provider: IdentityProvider) -> dict[str, str]:
    """Tokens that no portal may take, by what is wrong with them."""
    public = provider.signs.private.public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    good = provider.mint()
    header = {**header_of(good), "alg": "HS256"}
    stranger = Key()
    return {
        "another audience": provider.mint({"aud": "another-app"}),
        "no audience": provider.mint({"aud": None}),
        "an audience that begins alike": provider.mint({"aud": "portal.evil.example"}),
        "another issuer": provider.mint({"iss": "https://evil.example"}),
        "an issuer with a slash more": provider.mint({"iss": provider.issuer + "/"}),
        "no signature": provider.mint(algorithm="none"),
        "its public key as a secret": hmac_signed(header, claims_of(good), pem),
        "no secret": hmac_signed(header, claims_of(good), b""),
        "a stranger's key of the same id": provider.mint(key=stranger.private),
        "a stranger's key": provider.mint(key=stranger.private, header={"kid": stranger.kid}),
        "a key that it brings along": provider.mint(
            key=stranger.private, header={"kid": stranger.kid, "jwk": stranger.jwk}
        ),
        "an algorithm that is not accepted": provider.mint(algorithm="RS512"),
        "an end that is past": provider.mint(lifetime=-61),
        "no end": provider.mint({"exp": None}),
        "a beginning to come": provider.mint({"nbf": int(time.time()) + 120}),
        "nobody": provider.mint({"sub": None}),
        "an extension that must be understood": provider.mint(
            header={"crit": ["evil"], "evil": True}
        ),
    }


async def test_an_external_token_with_anything_wrong_is_refused(
    provider: IdentityProvider,
) -> None:
    async with attacked(**accepting(provider)) as portal:
        before = await portal.rows()
        for wrong, token in evil_tokens(provider).items():
            assert await portal.tier(token) == "refused", wrong
        assert await portal.rows() == before
        assert await portal.tier(provider.mint()) == "members"


async def test_an_issuer_on_this_machine_is_known_by_its_port(provider: IdentityProvider) -> None:
    """To a portal on this machine every loopback address is its own; its issuer's is not."""
    entry = {"issuer": provider.issuer, "audience": "portal"}
    async with attacked(sign_in={"accept": [entry]}) as portal:
        assert await portal.tier(provider.mint()) == "members"
        assert await portal.tier(provider.mint({"aud": BASE})) == "refused"
        tokens = await (await register(portal)).tokens()
        assert await portal.tier(tokens["access_token"]) == "members"


async def test_an_accepted_issuer_cannot_speak_in_the_portals_own_name(
    provider: IdentityProvider,
) -> None:
    async with attacked(**accepting(provider)) as portal:
        client = await register(portal)
        good = claims_of((await client.tokens())["access_token"])
        for issuer in (PUBLIC, provider.issuer):
            token = provider.mint({**good, "iss": issuer}, header={"typ": "at+jwt"})
            assert await portal.tier(token) == "refused"


async def test_an_external_token_of_an_issuer_that_is_not_accepted_is_refused(
    provider: IdentityProvider,
) -> None:
    signing_in = {"oidc": [{"name": "Provider", "issuer": provider.issuer, "client_id": "portal"}]}
    async with attacked(base=PUBLIC, sign_in=signing_in) as portal:
        assert await portal.tier(provider.mint()) == "refused"
    assert not provider.asked, "An issuer that is not accepted was asked for its keys."


async def test_made_up_key_ids_are_no_flood_for_the_issuer(provider: IdentityProvider) -> None:
    async with attacked(**accepting(provider)) as portal:
        for number in range(50):
            token = provider.mint(key=provider.signs.private, header={"kid": f"made-up-{number}"})
            assert await portal.tier(token) == "refused"
    assert provider.asked["/jwks"] <= 2


async def test_a_cloudflare_assertion_counts_only_where_it_is_configured_and_good(
    provider: IdentityProvider,
) -> None:
    name = "cf-access-jwt-assertion"
    async with attacked() as portal:
        assert await portal.tier(headers={name: provider.mint()}) == "open"
        assert await portal.tier(headers={name: "nonsense"}) == "open"
    access = {"cloudflare_access": {"team": provider.issuer, "audience": "portal"}}
    async with attacked(base=PUBLIC, sign_in=access) as portal:
        for wrong, token in evil_tokens(provider).items():
            assert await portal.tier(headers={name: token}) == "refused", wrong
        assert await portal.tier(headers={name: provider.mint()}) == "members"
        assert await portal.tier(provider.mint()) == "refused"  # as a bearer token
        person = await portal.person()
        both = {name: provider.mint()}
        assert await portal.tier(await portal.api_token(person), headers=both) == "refused"


async def test_an_email_address_that_the_issuer_has_not_verified_opens_nothing(
    provider: IdentityProvider,
) -> None:
    tiers = {
        "access": {"members": {"any_of": [{"email": "ana@example.org"}]}},
        "default": "members",
        "items": {"garden": "open", "garden/harvest": "members"},
    }
    async with attacked(tiers=tiers, **accepting(provider)) as portal:
        for said in (
            {"email_verified": False},
            {"email_verified": None},
            {"email_verified": "true"},
            {"email_verified": 1},
            {"email": ["ana@example.org"]},
            {"email": "ana@example.org\n"},
        ):
            assert await portal.tier(provider.mint(said)) != "members", said
        later = {"iat": int(time.time()) + 1}  # of two words of one second the stricter counts
        assert await portal.tier(provider.mint(later)) == "members"
