"""Tokens that declared clients have for themselves (client_credentials, private_key_jwt).

One portal, as clients meet it over HTTP. Each single thing that is wrong with an assertion is
refused, whatever else is right with it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.client.auth.extensions.client_credentials import (
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)

from gateway.config.portal import load_portal
from gateway.errors import ConfigError
from gateway.testing import open_test_portal
from tests.gateway.surfaces.oauth.assertions import (
    BASE,
    HMAC,
    JWT_BEARER,
    TIERS,
    Desk,
    Kept,
    Machine,
    Portal,
    called_by,
    declared,
    problem,
)
from tests.servers.identity_provider import IdentityProvider, Key


async def test_a_machine_calls_as_what_it_is_declared(world: Portal) -> None:
    answer = await world.token(scope="members")
    assert answer.json()["scope"] == "public"
    assert "refresh_token" not in answer.json()
    assert 0 < answer.json()["expires_in"] <= 900
    assert await world.whoami(answer) == "client:nightly public Nightly"
    assert (await world.whoami(answer, "secret")).startswith("Requires members access")


async def test_its_token_is_for_the_resource_that_it_names(world: Portal) -> None:
    answer = await world.token(resource=f"{BASE}/mcp/desk")
    said = {"authorization": f"Bearer {answer.json()['access_token']}"}
    elsewhere = await world.portal.http("open").get("/api/v1/tools", headers=said)
    assert elsewhere.status_code == 401
    assert problem(await world.token(resource="https://other.example/mcp")) == "invalid_target"


async def test_only_some_tools_where_only_some_are_declared(provider: IdentityProvider) -> None:
    machine = Machine()
    config = {"sign_in": declared(machine, provider, tier="members", tools=["secret"])}
    async with open_test_portal(Desk(), config=config, tiers=TIERS) as portal:
        world = Portal(portal, machine, provider)
        answer = await world.token()
        assert await world.whoami(answer, "secret") == "a secret"
        assert (await world.whoami(answer)).startswith("This token may be used for secret only")


WRONG_CLIENT: list[tuple[str, dict[str, Any]]] = [
    ("another issuer", {"iss": "other"}),
    ("another subject", {"sub": "other"}),
    ("no subject", {"sub": None}),
    ("another server", {"aud": "https://other.example"}),
    ("a resource of the portal", {"aud": f"{BASE}/mcp"}),
    ("two servers", {"aud": [BASE, "https://other.example"]}),
    ("no server", {"aud": None}),
    ("no end", {"exp": None}),
    ("over", {"exp": int(time.time()) - 3600}),
    ("too long", {"exp": int(time.time()) + 7200}),
    ("made in the future", {"iat": int(time.time()) + 3600}),
    ("made long ago", {"iat": int(time.time()) - 7200}),
    ("not yet", {"nbf": int(time.time()) + 3600}),
    ("no id", {"jti": None}),
    ("an empty id", {"jti": ""}),
    ("an id that is no text", {"jti": 7}),
    ("an endless id", {"jti": "x" * 2100}),
]


@pytest.mark.parametrize(("what", "changed"), WRONG_CLIENT)
async def test_one_wrong_claim_and_a_client_has_not_authenticated(
    world: Portal, what: str, changed: dict[str, Any]
) -> None:
    answer = await world.token(client_assertion=world.machine.assertion(**changed))
    assert (problem(answer), answer.status_code) == ("invalid_client", 401), what


@pytest.mark.parametrize(
    "header",
    [{"typ": "at+jwt"}, {"typ": "oauth-id-jag+jwt"}, {"crit": ["exp"]}, {"kid": "other"}],
)
async def test_one_wrong_header_and_a_client_has_not_authenticated(
    world: Portal, header: dict[str, Any]
) -> None:
    answer = await world.token(client_assertion=world.machine.assertion(header))
    assert problem(answer) == "invalid_client"


async def test_other_keys_and_algorithms_prove_nothing(world: Portal) -> None:
    claims, kid = world.machine.claims(), world.machine.key.kid
    stranger = Machine(key=Key("ES256", kid))
    public = json.dumps(world.machine.key.jwk).encode()
    unsigned = jwt.encode(claims, "", "none", {"kid": kid})
    forged = [
        stranger.assertion(),
        unsigned,
        jwt.encode(claims, HMAC, "HS256", {"kid": kid}),
        _hs256(claims, public, kid),
        jwt.encode(claims, Key("RS256", kid).private, "RS256", {"kid": kid}),
        world.machine.assertion()[:-4] + "AAAA",
        "no.jwt.atall",
        "",
    ]
    for each in forged:
        assert problem(await world.token(client_assertion=each or " ")) == "invalid_client"


def _hs256(claims: Mapping[str, Any], key: bytes, kid: str) -> str:
    """A token whose secret is the public key as it is published (RFC 8725, section 2.1)."""
    import hmac

    parts = [
        base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=")
        for each in ({"alg": "HS256", "kid": kid}, claims)
    ]
    mac = hmac.new(key, b".".join(parts), "sha256").digest()
    return b".".join([*parts, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    claim=st.sampled_from(["iss", "sub", "aud", "exp", "iat", "jti", "nbf"]),
    value=st.one_of(
        st.booleans(),
        st.floats(allow_nan=False),
        st.integers(-(2**70), -1),
        st.text(max_size=20),
        st.lists(st.text(max_size=5), max_size=3),
        st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    ),
)
async def test_whatever_stands_in_a_claim_is_no_way_in(
    world: Portal, claim: str, value: Any
) -> None:
    if claim == "jti" and isinstance(value, str) and value:
        return  # any text is an id
    if claim in ("iat", "nbf") and isinstance(value, float | int) and not isinstance(value, bool):
        return  # an early time is one that has been, for nbf
    answer = await world.token(client_assertion=world.machine.assertion(**{claim: value}))
    assert answer.status_code in (400, 401, 429), (claim, value)


async def test_an_assertion_is_good_once(world: Portal) -> None:
    mine, word = world.machine.assertion(), world.word()
    assert (await world.token(client_assertion=mine)).status_code == 200
    assert problem(await world.token(client_assertion=mine)) == "invalid_client"
    assert (await world.for_ana(word)).status_code == 200
    assert problem(await world.for_ana(word)) == "invalid_grant"


async def test_nor_is_it_good_at_another_replica_or_after_a_restart(
    provider: IdentityProvider, tmp_path: Path
) -> None:
    machine = Machine()
    config = {"sign_in": declared(machine, provider, tier="public")}
    assertion = machine.assertion()
    outcomes = []
    for _ in range(2):
        async with open_test_portal(Desk(), config=config, data_dir=tmp_path) as portal:
            world = Portal(portal, machine, provider)
            outcomes.append((await world.token(client_assertion=assertion)).status_code)
    assert outcomes == [200, 401]


async def test_a_client_authenticates_in_one_way(world: Portal) -> None:
    for said in (
        {"client_secret": "x"},
        {"client_assertion_type": "other"},
        {"client_assertion_type": None},
        {"client_assertion": None},
        {"client_id": "other"},
    ):
        assert problem(await world.token(**said)) in ("invalid_client", "invalid_request")
    nobody = await world.token(client_assertion=None, client_assertion_type=None)
    assert problem(nobody) == "invalid_client"


async def test_the_token_endpoint_is_a_good_audience_too(world: Portal) -> None:
    mine = world.machine.assertion(aud=f"{BASE}/token")
    assert (await world.token(client_assertion=mine)).status_code == 200
    typed = world.machine.assertion({"typ": "client-authentication+jwt"}, aud=[BASE])
    assert (await world.token(client_assertion=typed)).status_code == 200


async def test_a_client_without_a_tier_has_nothing_of_its_own(provider: IdentityProvider) -> None:
    machine = Machine()
    first = declared(machine, provider)
    first["clients"][1] |= {"tier": "public"}
    async with open_test_portal(Desk(), config={"sign_in": first}, tiers=TIERS) as portal:
        world = Portal(portal, machine, provider)
        assert problem(await world.token()) == "unauthorized_client"
        assert (await world.for_ana()).status_code == 200


async def test_the_sdk_s_machine_client_gets_its_token(provider: IdentityProvider) -> None:
    machine = Machine()
    pem = machine.key.private.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    ).decode()
    signed = SignedJWTParameters(
        issuer=machine.id, subject=machine.id, signing_key=pem, signing_algorithm="ES256"
    )
    config = {"sign_in": declared(machine, provider, tier="members")}
    async with open_test_portal(Desk(), config=config, tiers=TIERS) as portal:
        kept = Kept()
        auth = PrivateKeyJWTOAuthProvider(
            f"{BASE}/members/mcp",
            kept,
            machine.id,
            signed.create_assertion_provider(),
            issuer=BASE,
        )
        assert (await called_by(portal, auth)).status_code != 401
        assert kept.tokens is not None
        assert kept.tokens.scope == "public members"


async def test_every_token_and_every_refusal_is_recorded(world: Portal) -> None:
    await world.token()
    await world.token(client_assertion=world.machine.assertion(aud="https://other.example"))
    await world.for_ana()
    async with asyncio.timeout(60):
        while True:
            records = await world.portal.running.audit.read()
            if len(records) == 3:
                break
            await asyncio.sleep(0.02)
    seen = [(each.item, each.person, each.outcome) for each in reversed(records)]
    assert seen[0] == ("oauth/client_credentials", "client:nightly", "ok")
    assert seen[1] == ("oauth/client_credentials", None, "invalid_client")
    assert seen[2][0] == "oauth/jwt-bearer"
    assert (seen[2][1] or "").startswith("person:")


async def test_the_metadata_says_what_is_taken(world: Portal) -> None:
    url = "/.well-known/oauth-authorization-server"
    said = (await world.portal.http("open").get(url)).json()
    assert said["grant_types_supported"][2:] == ["client_credentials", JWT_BEARER]
    assert "private_key_jwt" in said["token_endpoint_auth_methods_supported"]
    assert said["token_endpoint_auth_signing_alg_values_supported"] == ["ES256", "RS256"]
    profiles = said["authorization_grant_profiles_supported"]
    assert profiles == ["urn:ietf:params:oauth:grant-profile:id-jag"]


async def test_a_portal_that_declares_nothing_takes_nothing(provider: IdentityProvider) -> None:
    async with open_test_portal(Desk()) as portal:
        world = Portal(portal, Machine(), provider)
        for answer in (await world.token(), await world.for_ana()):
            assert problem(answer) == "unsupported_grant_type"
        said = (await portal.http("open").get("/.well-known/oauth-authorization-server")).json()
        assert said["grant_types_supported"] == ["authorization_code", "refresh_token"]
        assert "authorization_grant_profiles_supported" not in said


@pytest.mark.parametrize(
    ("client", "says"),
    [
        ({"id": "a"}, "give either jwks or jwks_url"),
        ({"id": "a", "jwks": {}}, "must be a key set"),
        ({"id": "a", "jwks": {"keys": [{"kty": "oct", "k": "AAAA"}]}}, "public keys alone"),
        ({"id": "https://a.example", "jwks": {"keys": [{}]}}, "should match pattern"),
        ({"id": "a", "jwks_url": "http://a.example/jwks"}, "https"),
        ({"id": "a", "jwks": {"keys": [{}]}, "algorithms": ["HS256"]}, "algorithms"),
        ({"id": "a", "jwks": {"keys": [{}]}, "tier": "open"}, "tier"),
    ],
)
def test_a_declaration_that_cannot_work_is_told(
    client: dict[str, Any], says: str, tmp_path: Path
) -> None:
    (tmp_path / "portal.yaml").write_text(json.dumps({"sign_in": {"clients": [client]}}))
    with pytest.raises(ConfigError, match=says):
        load_portal(tmp_path)
