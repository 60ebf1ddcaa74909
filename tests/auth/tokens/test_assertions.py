"""What the portal says of a caller to others is for one audience, and no credential here."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from auth.credentials import BadCredential
from auth.portal_addresses import Site
from auth.tokens.access_tokens import AccessTokens
from auth.tokens.assertions import Assertions, OwnAudience, subject_of
from auth.tokens.signing_keys import SigningKeys

BASE = "https://portal.example.org"
ISSUER = "https://login.far.example"
ANA = "person:4kq2"
KEYS = SigningKeys(b"k" * 32)


def about(person: str = ANA, audience: str = ISSUER) -> Any:
    return Assertions(KEYS, Site(BASE, local=False)).about(person, audience, BASE)


def test_it_is_signed_with_a_published_key_for_one_audience_and_a_minute() -> None:
    made = about()
    [key] = [each for each in KEYS.jwks()["keys"] if each["kid"] == KEYS.current().kid]
    claims = jwt.decode(
        made.token, jwt.PyJWK(key), ["EdDSA"], audience=ISSUER, issuer=BASE, leeway=0
    )
    assert claims["sub"] == made.subject
    assert claims["exp"] - claims["iat"] == 60
    assert claims.keys() == {"iss", "sub", "aud", "iat", "exp", "jti"}


def test_a_person_is_somebody_else_to_every_audience_and_always_the_same_to_one() -> None:
    assert about().subject == about().subject == subject_of(ANA, ISSUER)
    assert about().subject != about(audience="https://login.other.example").subject
    assert about().subject != about("person:other").subject
    assert ANA not in jwt.decode(about().token, options={"verify_signature": False}).values()


def test_its_text_shows_no_token() -> None:
    made = about()
    assert made.token not in repr(made)


@pytest.mark.parametrize("audience", [BASE, f"{BASE}/", f"{BASE}/mcp", BASE.upper(), ""])
def test_there_is_none_for_the_portal_itself(audience: str) -> None:
    with pytest.raises(OwnAudience):
        about(audience=audience)


def test_to_a_portal_on_this_machine_another_port_is_somebody_else() -> None:
    assertions = Assertions(KEYS, Site("http://localhost:8321", local=True))
    for own in ("http://127.0.0.1:8321/mcp", "http://localhost:99999"):
        with pytest.raises(OwnAudience):
            assertions.about(ANA, own, "http://localhost:8321")
    assert assertions.about(ANA, "http://127.0.0.1:9000", "http://localhost:8321").token


async def test_it_is_no_access_token_of_the_portal() -> None:
    site, nowhere = Site(BASE, local=False), None
    tokens = AccessTokens(KEYS, site, nowhere, nowhere, 900)  # type: ignore[arg-type]
    with pytest.raises(BadCredential, match="not one of the portal's access tokens"):
        await tokens.identify(about().token, "/mcp")
