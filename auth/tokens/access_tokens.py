"""The portal's own access tokens: JWTs (RFC 9068) that clients get by a person's consent."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from auth.callers import BY_CONSENT, Identity
from auth.credentials import BadCredential
from auth.portal_addresses import Site
from auth.stores import Grant, GrantStore, People, Person
from auth.tiers import Tier
from auth.tokens.jwt_checks import Unverified, check_times, unverified, verified
from auth.tokens.signing_keys import ALGORITHM, SigningKeys

JWT_TYPE = "at+jwt"
"""The ``typ`` of an access token, which no other JWT has (RFC 9068, section 2.1)."""
MAX_CLOCK_SKEW_S = 5.0
"""Seconds by which the clocks of two replicas may differ; there is no other issuer."""

_WHOSE = "access token"


class AccessTokens:
    """Issues access tokens and recognises them.

    A token is good as long as its grant is: grant and person are looked up each time, so that a
    revocation ends it at once.

    Args:
        keys: sign and verify.
        site: the portal's addresses, which issuers and audiences are compared with.
        people: looks up the person.
        grants: looks up the consent.
        lifetime: seconds for which a token is good.
        clock: seconds since the epoch; replaced in tests.
        grant_lifetime: seconds for which a grant lasts from the consent on.
    """

    def __init__(
        self,
        keys: SigningKeys,
        site: Site,
        people: People,
        grants: GrantStore,
        lifetime: float,
        clock: Callable[[], float] = time.time,
        grant_lifetime: float = math.inf,
    ) -> None:
        self._keys = keys
        self._site = site
        self._people = people
        self._grants = grants
        self._lifetime = int(lifetime)
        self._clock = clock
        self._grant_lifetime = grant_lifetime

    def issue(
        self,
        grant: Grant,
        base: str,
        now: float | None = None,
        scope: Iterable[str] | None = None,
    ) -> tuple[str, int]:
        """Make a token of a grant.

        Args:
            grant: the consent that it depends on.
            base: the portal's address as the client sees it; the issuer.
            now: seconds since the epoch, if not the clock's.
            scope: a part of the grant's scope, if not all of it.

        Returns:
            The token, and the seconds for which it is good.
        """
        import jwt

        issued = int(self._clock() if now is None else now)
        lifetime = int(min(self._lifetime, max(0.0, self._ends(grant) - issued)))
        claims = {
            "iss": base,
            "sub": grant.person,
            "aud": grant.resource,
            "client_id": grant.client_id,
            "scope": " ".join(grant.scope if scope is None else scope),
            "iat": issued,
            "exp": issued + lifetime,
            "jti": secrets.token_urlsafe(12),
            "grant": grant.id,
        }
        key = self._keys.current()
        headers = {"typ": JWT_TYPE, "kid": key.kid}
        return jwt.encode(claims, key.private, ALGORITHM, headers), lifetime

    def _ends(self, grant: Grant) -> float:
        return grant.created.timestamp() + self._grant_lifetime

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that one of the portal's own access tokens proves.

        Args:
            token: the token as it was presented.
            path: the path of the request; the token must be for it.

        Returns:
            None where the token names another issuer or is no JWT.

        Raises:
            BadCredential: the token is not good, or not good at this path.
        """
        read = unverified(token)
        if read is None or read.issuer is None or not self._site.is_base(read.issuer):
            return None
        claims = self._claims(token, read)
        expires = check_times(claims, self._clock(), MAX_CLOCK_SKEW_S, _WHOSE)
        audience = str(claims.get("aud", ""))
        if not self._site.accepts(audience, path):
            raise BadCredential(
                f"The access token is for {audience} and was used at {quote(path[:200])}. "
                "Sign in for this address."
            )
        grant, person = await self._grant_and_person(claims)
        return Identity(
            person=person.id,
            provider=BY_CONSENT,
            name=person.name,
            accounts=person.accounts,
            ceiling=_ceiling(str(claims.get("scope", ""))),
            client=grant.client_name,
            tags=frozenset({f"grant:{grant.id}", person.id}),
            expires=min(expires, self._ends(grant)),
        )

    def _claims(self, token: str, read: Unverified) -> dict[str, Any]:
        if read.algorithm != ALGORITHM or read.header.get("typ") != JWT_TYPE:
            raise BadCredential("The token is not one of the portal's access tokens. Sign in.")
        key = self._keys.public(read.kid or "")
        if key is None:
            raise BadCredential("The access token was not signed here, or long ago. Sign in again.")
        return verified(token, key, ALGORITHM, _WHOSE)

    async def _grant_and_person(self, claims: Mapping[str, Any]) -> tuple[Grant, Person]:
        grant = await self._grants.get(str(claims.get("grant", "")))
        if grant is None or grant.revoked is not None or grant.person != claims.get("sub"):
            raise BadCredential("The access that this token stood for was revoked. Sign in again.")
        if self._clock() >= self._ends(grant):
            raise BadCredential("The access that this token stood for has ended. Sign in again.")
        person = await self._people.get(grant.person)
        if person is None:
            raise BadCredential("The account that this token stood for is gone. Sign in again.")
        return grant, person


def _ceiling(scope: str) -> Tier:
    return max((Tier(each) for each in scope.split() if each in set(Tier)), default=Tier.OPEN)
