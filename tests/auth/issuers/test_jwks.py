from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from auth.document_fetcher import Document
from auth.issuers.discovery import RETRY_INTERVAL_S, Discovery, IssuerUnavailable
from auth.issuers.jwks import MAX_CACHE_S, MAX_STALE_S, MIN_CACHE_S, UNKNOWN_KEY_INTERVAL_S, Jwks
from tests.auth.clocks import Clock
from tests.servers.identity_provider import IdentityProvider, Key


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jwks(provider: IdentityProvider, clock: Clock) -> Jwks:
    return Jwks(f"{provider.issuer}/jwks", clock=clock)


class Published:
    """A key set in this process, for what no server can be made to do at a given moment."""

    def __init__(self, *keys: Any, max_age: float | None = None) -> None:
        self.keys: list[Any] = list(keys)
        self.max_age = max_age
        self.asked = 0
        self.down = False

    async def fetch(self, url: str) -> Document:
        self.asked += 1
        await asyncio.sleep(0)
        if self.down:
            raise IssuerUnavailable("It does not answer.")
        return Document({"keys": list(self.keys)}, self.max_age)

    def jwks(self, clock: Clock) -> Jwks:
        return Jwks("https://id.example.org/jwks", self.fetch, clock)


async def test_a_key_is_found_by_its_id_and_fetched_once(jwks, provider):
    for _ in range(3):
        found = await jwks.key(provider.signs.kid, "RS256")
        assert found is not None
        assert found.key.public_numbers() == provider.signs.private.public_key().public_numbers()
    assert provider.asked["/jwks"] == 1


async def test_the_keys_are_found_by_discovery(provider, clock):
    jwks = Jwks(Discovery(provider.issuer).jwks_uri, clock=clock)
    assert await jwks.key(provider.signs.kid, "RS256") is not None
    assert provider.asked["/.well-known/openid-configuration"] == 1


async def test_an_unknown_id_makes_them_be_fetched_again(jwks, provider, clock):
    await jwks.key(provider.signs.kid, "RS256")
    new = provider.rotate()
    clock.pass_(UNKNOWN_KEY_INTERVAL_S)
    assert await jwks.key(new.kid, "RS256") is not None
    assert provider.asked["/jwks"] == 2


async def test_a_flood_of_unknown_ids_is_no_flood_for_the_issuer(jwks, provider, clock):
    for seconds in range(30):
        found = await asyncio.gather(*(jwks.key(f"{seconds}-{n}", "RS256") for n in range(20)))
        assert found == [None] * 20
        clock.pass_(1)
    assert provider.asked["/jwks"] == 1


async def test_many_first_calls_at_once_are_one_request(jwks, provider):
    found = await asyncio.gather(*(jwks.key(provider.signs.kid, "RS256") for _ in range(50)))
    assert None not in found
    assert provider.asked["/jwks"] == 1


@pytest.mark.parametrize(
    ("max_age", "kept"),
    [(None, 3600), (0, MIN_CACHE_S), (60, MIN_CACHE_S), (1800, 1800), (10**8, MAX_CACHE_S)],
)
async def test_keys_are_kept_as_long_as_their_server_says_within_bounds(clock, max_age, kept):
    key = Key("ES256")
    published = Published(key.jwk, max_age=max_age)
    jwks = published.jwks(clock)
    await jwks.key(key.kid, "ES256")
    clock.pass_(kept - 1)
    await jwks.key(key.kid, "ES256")
    assert published.asked == 1
    clock.pass_(1)
    await jwks.key(key.kid, "ES256")
    assert published.asked == 2


async def test_a_key_that_is_no_longer_published_ends_with_the_next_look(clock):
    key = Key("ES256")
    published = Published(key.jwk)
    jwks = published.jwks(clock)
    assert await jwks.key(key.kid, "ES256") is not None
    published.keys = [Key("ES256").jwk]
    clock.pass_(3600)
    assert await jwks.key(key.kid, "ES256") is None


async def test_stale_keys_are_used_for_a_day_while_the_issuer_does_not_answer(clock):
    key = Key("ES256")
    published = Published(key.jwk, max_age=600)
    jwks = published.jwks(clock)
    await jwks.key(key.kid, "ES256")
    published.down = True
    clock.pass_(600 + MAX_STALE_S - 1)
    assert await jwks.key(key.kid, "ES256") is not None
    clock.pass_(1)
    with pytest.raises(IssuerUnavailable, match="does not answer"):
        await jwks.key(key.kid, "ES256")


async def test_of_an_unknown_key_nothing_is_said_while_its_issuer_does_not_answer(clock):
    key, new = Key("ES256"), Key("ES256")
    published = Published(key.jwk)
    jwks = published.jwks(clock)
    await jwks.key(key.kid, "ES256")
    published.down = True
    clock.pass_(UNKNOWN_KEY_INTERVAL_S)
    with pytest.raises(IssuerUnavailable, match="does not answer"):
        await jwks.key(new.kid, "ES256")
    assert await jwks.key(key.kid, "ES256") is not None
    published.keys, published.down = [key.jwk, new.jwk], False
    clock.pass_(UNKNOWN_KEY_INTERVAL_S)
    assert await jwks.key(new.kid, "ES256") is not None
    assert await jwks.key("no such key", "ES256") is None


async def test_an_issuer_that_is_down_is_tried_again_soon_but_not_at_every_call(clock):
    key = Key("ES256")
    published = Published(key.jwk)
    published.down = True
    jwks = published.jwks(clock)
    for _ in range(5):
        with pytest.raises(IssuerUnavailable):
            await jwks.key(key.kid, "ES256")
    assert published.asked == 1
    published.down = False
    clock.pass_(RETRY_INTERVAL_S)
    assert await jwks.key(key.kid, "ES256") is not None


async def test_a_request_that_is_cancelled_leaves_the_next_one_its_turn(clock):
    key = Key("ES256")
    published = Published(key.jwk)
    jwks = published.jwks(clock)
    first = asyncio.create_task(jwks.key(key.kid, "ES256"))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await jwks.key(key.kid, "ES256") is not None


async def test_an_issuer_out_of_reach_is_named(provider, jwks):
    provider.down = True
    with pytest.raises(IssuerUnavailable, match=r"127\.0\.0\.1.* answers with status 503"):
        await jwks.key("any", "RS256")


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_key_is_for_its_own_algorithm_only(clock, algorithm):
    key = Key(algorithm)
    jwks = Published(key.jwk).jwks(clock)
    for other in ["RS256", "PS256", "ES256", "EdDSA"]:
        found = await jwks.key(key.kid, other)
        assert (found is not None) == (other == algorithm)


async def test_an_rsa_key_that_names_no_algorithm_is_never_a_shared_secret(clock):
    key = Key("RS256")
    jwk = {name: value for name, value in key.jwk.items() if name != "alg"}
    jwks = Published(jwk).jwks(clock)
    found = await jwks.key(key.kid, "RS256")
    assert found is not None
    assert found.algorithm_name == "RS256"
    assert await jwks.key(key.kid, "ES256") is None
    with pytest.raises(KeyError):
        await jwks.key(key.kid, "HS256")


@pytest.mark.parametrize(
    "change",
    [
        {"use": "enc"},
        {"key_ops": ["encrypt"]},
        {"alg": "HS256"},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"n": "AQAB"},
        {"n": None},
        {"d": "AQAB"},
        {"kid": 7},
    ],
)
async def test_what_is_no_public_key_for_signatures_is_not_used(clock, change):
    key = Key("RS256")
    jwks = Published({**key.jwk, **change}).jwks(clock)
    assert await jwks.key(key.kid, "RS256") is None


async def test_a_key_whose_private_part_is_published_is_not_used(clock):
    key = Key("RS256")
    jwk = {**key.jwk, **RSAAlgorithm.to_jwk(key.private, as_dict=True), "key_ops": ["verify"]}
    assert await Published(jwk).jwks(clock).key(key.kid, "RS256") is None


async def test_a_key_that_can_be_broken_is_not_used(clock):
    key = Key("RS256")
    weak = rsa.generate_private_key(65537, 1024).public_key()
    jwk = {**key.jwk, "n": RSAAlgorithm.to_jwk(weak, as_dict=True)["n"]}
    assert await Published(jwk).jwks(clock).key(key.kid, "RS256") is None


async def test_one_bad_key_does_not_spoil_the_set(clock):
    key = Key("ES256")
    published = Published("no key", None, {}, {**key.jwk, "x": "!"}, {"kty": "new"}, key.jwk)
    assert await published.jwks(clock).key(key.kid, "ES256") is not None


async def test_without_an_id_only_a_single_key_is_found(clock):
    one, other = Key("ES256"), Key("ES256")
    assert await Published(one.jwk, Key("RS256").jwk).jwks(clock).key(None, "ES256") is not None
    assert await Published(one.jwk, other.jwk).jwks(clock).key(None, "ES256") is None


async def test_a_set_without_keys_is_no_set(clock):
    async def fetch(url: str) -> Document:
        return Document({"keys": "none"})

    with pytest.raises(IssuerUnavailable, match="no set of keys"):
        await Jwks("https://id.example.org/jwks", fetch, clock).key("any", "RS256")
