"""Logout tokens: only the provider's own, for this portal, and once."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from auth.callers import SignedOut
from auth.credentials import BadCredential
from auth.sign_in.oidc import OidcSignIn
from auth.sign_in.oidc_logout import EVENT
from auth.stores import Stores
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
def sign_in(provider: IdentityProvider) -> OidcSignIn:
    return OidcSignIn("Provider", provider.issuer, "portal", "the-secret")


async def refused(sign_in: OidcSignIn, stores: Stores, token: str) -> str:
    with pytest.raises(BadCredential) as refusal:
        await sign_in.signed_out(token, stores.spent)
    return refusal.value.reason


async def test_a_logout_token_names_the_account_or_the_session_or_both(
    sign_in: OidcSignIn, stores: Stores, provider: IdentityProvider
) -> None:
    issuer, account = provider.issuer, f"oidc:{provider.issuer}#ana"
    for sub, sid in (("ana", None), (None, "s-1"), ("ana", "s-1")):
        token = provider.logout_token(sub, sid)
        expected = SignedOut(issuer, account if sub else None, sid)
        assert await sign_in.signed_out(token, stores.spent) == expected


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"aud": "other"}, "another application"),
        ({"aud": None}, "another application"),
        ({"iss": "https://other.example"}, "no logout token of"),
        ({"iat": None}, "iat"),
        ({"iat": int(time.time()) + 3600}, "not good yet"),
        ({"exp": None}, "when it ends"),
        ({"exp": int(time.time()) - 3600}, "expired"),
        ({"jti": None}, "jti"),
        ({"jti": ""}, "jti"),
        ({"jti": 7}, "jti"),
        ({"jti": "x" * 256}, "jti"),
        ({"events": None}, "events"),
        ({"events": [EVENT]}, "events"),
        ({"events": {EVENT: True}}, "events"),
        ({"events": {"http://schemas.openid.net/event/other": {}}}, "events"),
        ({"nonce": "n"}, "nonce"),
        ({"nonce": ""}, "nonce"),
        ({"sub": None}, "nobody"),
        ({"sid": ["s"]}, "sid"),
        ({"sub": "a\0b"}, "sub"),
    ],
)
async def test_what_is_no_logout_token_for_this_portal_is_refused(
    sign_in: OidcSignIn,
    stores: Stores,
    provider: IdentityProvider,
    changes: dict[str, Any],
    why: str,
) -> None:
    assert why in await refused(sign_in, stores, provider.logout_token("ana", None, changes))


async def test_what_others_signed_is_refused(
    sign_in: OidcSignIn, stores: Stores, provider: IdentityProvider
) -> None:
    good = provider.logout_token("ana")
    await refused(sign_in, stores, provider.logout_token("ana", key=Key().private))
    await refused(sign_in, stores, provider.logout_token("ana", algorithm="none"))
    await refused(sign_in, stores, provider.logout_token("ana", header={"typ": "at+jwt"}))
    await refused(sign_in, stores, provider.mint({"nonce": "n", "jti": "j"}))
    await refused(sign_in, stores, "nonsense")
    with IdentityProvider() as other:
        await refused(sign_in, stores, other.logout_token("ana", None, {"iss": provider.issuer}))
    assert await sign_in.signed_out(good, stores.spent)


async def test_a_logout_token_is_good_once(
    sign_in: OidcSignIn, stores: Stores, provider: IdentityProvider
) -> None:
    token = provider.logout_token("ana")
    await sign_in.signed_out(token, stores.spent)
    assert "used before" in await refused(sign_in, stores, token)
    again = OidcSignIn("Provider", provider.issuer, "portal", "the-secret")
    assert "used before" in await refused(again, stores, token)
