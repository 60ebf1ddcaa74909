"""What the portal says of a caller to authorization servers of others: signed, short, for one.

An assertion is no credential at the portal: it is for somebody else (``aud``), and its ``typ`` is
not that of an access token (RFC 8725, section 3.11; RFC 9068, section 2.1).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from auth.portal_addresses import Site
from auth.stores import digest
from auth.tokens.signing_keys import ALGORITHM, SigningKeys

JWT_TYPE = "JWT"
"""The ``typ`` of an assertion: what libraries take for an ordinary JWT (RFC 7519, section 5.1)."""
LIFETIME_SECONDS = 60
"""Seconds for which an assertion is good: it is exchanged at once."""
_SUBJECT_CHARACTERS = 32


class OwnAudience(ValueError):
    """An assertion was asked for that would be for the portal itself."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """The portal's word about a person, for one audience.

    Attributes:
        token: the JWT, signed with a key of ``/.well-known/jwks.json``.
        person: whom it is about, by the portal's own id, which is not in the token.
        issuer: the portal's address, the token's ``iss``.
        subject: what the person is called there, the token's ``sub``.
    """

    token: str = field(repr=False)
    person: str
    issuer: str
    subject: str


class Assertions:
    """Signs assertions.

    Args:
        keys: sign.
        site: the portal's addresses, which are nobody else's audience.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self, keys: SigningKeys, site: Site, clock: Callable[[], float] = time.time
    ) -> None:
        self._keys = keys
        self._site = site
        self._clock = clock

    def about(self, person: str, audience: str, base: str) -> Assertion:
        """The portal's word about a person.

        Args:
            person: the person's id.
            audience: the one that it is for, as it calls itself.
            base: the portal's address as the person's client sees it; the issuer.

        Raises:
            OwnAudience: that is the portal, or nobody.
        """
        import jwt

        if not audience or self._is_own(audience, base):
            raise OwnAudience("An assertion is for an authorization server of others.")
        issued, subject = int(self._clock()), subject_of(person, audience)
        claims = {
            "iss": base,
            "sub": subject,
            "aud": audience,
            "iat": issued,
            "exp": issued + LIFETIME_SECONDS,
            "jti": secrets.token_urlsafe(12),
        }
        key = self._keys.current()
        headers = {"typ": JWT_TYPE, "kid": key.kid}
        token = jwt.encode(claims, key.private, ALGORITHM, headers)
        return Assertion(token, person, base, subject)

    def _is_own(self, audience: str, base: str) -> bool:
        # To a portal on this machine all of its names are its own, at any port; here only its own.
        if self._site.resource_path(audience) is None:
            return False
        try:
            return urlsplit(audience).port == urlsplit(base).port
        except ValueError:  # it has no port that there could be
            return True


def subject_of(person: str, audience: str) -> str:
    """What a person is called to an audience: always the same, and to every other another one.

    It tells nothing of the person's id, which is random, and two audiences cannot find out that
    they mean one person (OpenID Connect Core 1.0, section 8.1).
    """
    return digest(f"subject\n{audience}\n{person}")[:_SUBJECT_CHARACTERS]
