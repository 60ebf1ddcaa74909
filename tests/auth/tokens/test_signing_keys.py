from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.tokens.signing_keys import KEY_PERIOD_S, SigningKeys
from tests.auth.clocks import Clock

KEY = b"k" * 32


def test_a_key_signs_what_its_published_part_verifies():
    keys = SigningKeys(KEY)
    current = keys.current()
    public = keys.public(current.kid)
    assert public is not None
    public.verify(current.private.sign(b"text"), b"text")
    assert current.jwk in keys.jwks()["keys"]


def test_only_public_parts_are_published():
    for jwk in SigningKeys(KEY).jwks()["keys"]:
        assert jwk.keys() == {"kty", "crv", "x", "kid", "use", "alg"}
        assert (jwk["kty"], jwk["crv"], jwk["use"], jwk["alg"]) == (
            "OKP",
            "Ed25519",
            "sig",
            "EdDSA",
        )


def test_a_kid_is_the_thumbprint_of_rfc_7638():
    jwk = SigningKeys(KEY).current().jwk
    text = f'{{"crv":"Ed25519","kty":"OKP","x":"{jwk["x"]}"}}'
    digest = hashlib.sha256(text.encode()).digest()
    assert jwk["kid"] == urlsafe_b64encode(digest).rstrip(b"=").decode()


def test_a_key_of_just_before_the_change_is_good_for_the_whole_next_period():
    clock = Clock(1000 * KEY_PERIOD_S - 1)
    keys = SigningKeys(KEY, clock)
    before = keys.current()
    clock.pass_(2)
    assert keys.current().kid != before.kid
    assert keys.public(before.kid) is not None
    clock.pass_(KEY_PERIOD_S - 2)
    assert keys.public(before.kid) is not None
    clock.pass_(2)
    assert keys.public(before.kid) is None


def test_the_next_key_is_published_a_whole_period_ahead():
    clock = Clock(1000 * KEY_PERIOD_S)
    keys = SigningKeys(KEY, clock)
    published = {jwk["kid"] for jwk in keys.jwks()["keys"]}
    clock.pass_(KEY_PERIOD_S)
    assert keys.current().kid in published


@given(st.floats(min_value=10 * KEY_PERIOD_S, max_value=1000 * KEY_PERIOD_S), st.floats(-60, 60))
def test_replicas_whose_clocks_differ_understand_each_other(now: float, apart: float):
    one, other = SigningKeys(KEY, Clock(now)), SigningKeys(KEY, Clock(now + apart))
    assert one.public(other.current().kid) is not None
    assert other.public(one.current().kid) is not None


def test_portals_with_different_signing_keys_share_no_key():
    kids = {key["kid"] for each in (KEY, b"o" * 32) for key in SigningKeys(each).jwks()["keys"]}
    assert len(kids) == 6


@pytest.mark.parametrize("kid", ["", "x", "../etc/passwd"])
def test_an_unknown_kid_finds_no_key(kid: str):
    assert SigningKeys(KEY).public(kid) is None


def test_a_private_key_is_not_shown():
    assert "private" not in repr(SigningKeys(KEY).current())
