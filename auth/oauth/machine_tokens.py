"""Access tokens of declared clients for themselves (RFC 6749, section 4.4): JWTs (RFC 9068).

There is no person behind one and no grant: it depends on the client's declaration alone, is good
for minutes, and is never refreshed.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from auth.callers import Identity
from auth.credentials import BadCredential
from auth.oauth.declared_clients import DeclaredClient
from auth.portal_addresses import Site
from auth.tiers import Tier
from auth.tokens.access_tokens import JWT_TYPE, MAX_CLOCK_SKEW_S
from auth.tokens.jwt_checks import check_times, unverified, verified
from auth.tokens.signing_keys import ALGORITHM, SigningKeys

MACHINE = "client:"
"""The prefix of the ids by which such callers are known, as people are by theirs."""
_WHOSE = "access token"


class MachineTokens:
    """Issues access tokens of declared clients and recognises them; a ``Verifier``.

    Args:
        keys: sign and verify.
        site: the portal's addresses.
        clients: the declared clients, by their ids.
        lifetime: seconds for which a token is good.
        clock: seconds since the epoch; replaced in tests.

    Attributes:
        clients: the declared clients.
    """

    def __init__(
        self,
        keys: SigningKeys,
        site: Site,
        clients: Mapping[str, DeclaredClient],
        lifetime: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._site = site
        self.clients = clients
        self._lifetime = int(lifetime)
        self._clock = clock

    def issue(
        self, client: DeclaredClient, base: str, resource: str, scope: Iterable[str]
    ) -> tuple[str, int]:
        """Make a token.

        Args:
            client: whose.
            base: the portal's address as the client sees it; the issuer.
            resource: what it is for.
            scope: the tiers for which it may be used.

        Returns:
            The token, and the seconds for which it is good.
        """
        import jwt

        issued = int(self._clock())
        claims = {
            "iss": base,
            "sub": MACHINE + client.id,
            "aud": resource,
            "client_id": client.id,
            "scope": " ".join(scope),
            "iat": issued,
            "exp": issued + self._lifetime,
            "jti": secrets.token_urlsafe(12),
        }
        key = self._keys.current()
        headers = {"typ": JWT_TYPE, "kid": key.kid}
        return jwt.encode(claims, key.private, ALGORITHM, headers), self._lifetime

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that such a token proves; None for tokens of other kinds.

        Raises:
            BadCredential: the token is not good, or not good at this path.
        """
        read = unverified(token)
        if read is None or read.issuer is None or not self._site.is_base(read.issuer):
            return None
        subject = read.claims.get("sub")
        if not isinstance(subject, str) or not subject.startswith(MACHINE):
            return None
        key = self._keys.public(read.kid or "")
        if key is None or read.algorithm != ALGORITHM or read.header.get("typ") != JWT_TYPE:
            raise BadCredential("The token is not one of the portal's access tokens.")
        claims = verified(token, key, ALGORITHM, _WHOSE)
        expires = check_times(claims, self._clock(), MAX_CLOCK_SKEW_S, _WHOSE)
        self._check_audience(claims, path)
        client = self.clients.get(subject.removeprefix(MACHINE))
        if client is None or client.tier is None:
            raise BadCredential("The client of this token is no longer declared here.")
        return Identity(
            person=subject,
            provider="client-credentials",
            name=client.name,
            granted=client.tier,
            ceiling=_ceiling(claims),
            tools=client.tools,
            client=client.name,
            tags=frozenset({subject}),
            expires=expires,
        )

    def _check_audience(self, claims: Mapping[str, Any], path: str) -> None:
        audience = str(claims.get("aud", ""))
        if not self._site.accepts(audience, path):
            raise BadCredential(
                f"The access token is for {audience} and was used at {quote(path[:200])}. "
                "Ask for one for this address."
            )


def _ceiling(claims: Mapping[str, Any]) -> Tier:
    scopes = str(claims.get("scope", "")).split()
    return max((Tier(each) for each in scopes if each in set(Tier)), default=Tier.OPEN)
