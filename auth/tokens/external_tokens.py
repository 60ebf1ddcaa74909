"""JWTs of other issuers as credentials: an identity provider's, and Cloudflare Access's."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from auth.callers import Account, Identity
from auth.credentials import BadCredential, UncheckedCredential
from auth.issuers import oidc_claims
from auth.issuers.discovery import IssuerUnavailable
from auth.issuers.jwks import ALGORITHMS, Jwks
from auth.stores import NoSuchPerson, Person
from auth.tokens.jwt_checks import (
    Unverified,
    audiences,
    check_times,
    issued_at,
    unverified,
    verified,
)

Recognise = Callable[[Account], Awaitable[Person]]
"""Says who the person of a proved account is; ``AccountService.recognise`` does."""

MAX_CLOCK_SKEW_S = 60.0
"""Seconds by which an issuer's clock may differ from ours."""
TYPES = frozenset({"", "jwt", "jose", "at+jwt"})
"""What the ``typ`` of a token may be, in lower case and without ``application/``; empty for none.

An issuer signs other things with the same keys, such as identity assertions, which are for one
client and good once, and logout tokens. Their types keep them apart (RFC 8725, section 3.11).
"""


async def checked_claims(
    token: str, read: Unverified, jwks: Jwks, algorithms: Sequence[str], whose: str
) -> dict[str, Any]:
    """The claims of a token after its signature, and nothing else, was checked by an issuer's keys.

    Args:
        token: the token.
        read: what it says about itself.
        jwks: the issuer's keys.
        algorithms: those that may have been used.
        whose: what to call the token, such as "ID token".

    Raises:
        BadCredential: it was not signed by the issuer; :class:`UncheckedCredential` where the
            issuer's keys cannot be had.
    """
    algorithm = read.algorithm
    if algorithm is None or algorithm not in algorithms or algorithm not in ALGORITHMS:
        accepted = ", ".join(algorithms)
        raise BadCredential(f"The {whose} must be signed by one of these methods: {accepted}.")
    try:
        key = await jwks.key(read.kid, algorithm)
    except IssuerUnavailable as problem:
        raise UncheckedCredential(
            f"The {whose} cannot be checked right now, because its issuer's keys cannot be read. "
            f"{problem} Try again in a minute."
        ) from None
    if key is None:
        raise BadCredential(f"The {whose} is signed by a key that its issuer does not publish.")
    return verified(token, key, algorithm, whose)


class ExternalTokens:
    """Recognises the JWTs of one issuer that are meant for one audience.

    Args:
        issuer: the issuer, exactly as it writes itself.
        audience: the audience that its tokens must be for.
        jwks: the issuer's keys.
        algorithms: the signature algorithms to accept.
        recognise: says who the person of an account is, and makes one at first sight.
        clock: seconds since the epoch; replaced in tests.
    """

    provider = "oidc"
    """The ``provider`` of the identities."""
    whose = "token"
    """How messages name such a token."""
    vouched = False
    """Whether every email address from this issuer counts as verified."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks: Jwks,
        algorithms: Sequence[str],
        recognise: Recognise,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._jwks = jwks
        self._algorithms = tuple(algorithms)
        self._recognise = recognise
        self._clock = clock

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that a JWT of this issuer proves, at any path.

        Returns:
            None where the token names another issuer or is no JWT.

        Raises:
            BadCredential: the token is the issuer's and not good here, or the issuer's keys
                cannot be read.
        """
        read = unverified(token)
        if read is None or read.issuer != self._issuer:
            return None
        self._check_kind(read)
        claims = await checked_claims(token, read, self._jwks, self._algorithms, self.whose)
        expires = check_times(claims, self._clock(), MAX_CLOCK_SKEW_S, self.whose)
        if self._audience not in audiences(claims):
            raise BadCredential(
                f"The {self.whose} is for another audience than this portal's ({self._audience})."
            )
        self.check(claims)
        at = issued_at(claims)
        account = oidc_claims.account(self._issuer, claims, at=at, vouched=self.vouched)
        person = await self._person(account)
        return Identity(
            person=person.id,
            provider=self.provider,
            name=person.name,
            accounts=person.accounts,
            tags=frozenset({person.id}),
            expires=expires + MAX_CLOCK_SKEW_S,
        )

    def _check_kind(self, read: Unverified) -> None:
        named = read.header.get("typ", "")
        kind = named.lower().removeprefix("application/") if isinstance(named, str) else None
        # Logout tokens had no type of their own for long; events are theirs alone (RFC 8417).
        if kind not in TYPES or "events" in read.claims:
            raise BadCredential(
                f"The {self.whose} was made for another purpose than access (typ, events)."
            )

    async def _person(self, account: Account) -> Person:
        try:
            return await self._recognise(account)
        except NoSuchPerson:
            raise BadCredential(
                f"The account that the {self.whose} stands for was deleted just now. Sign in again."
            ) from None

    def check(self, claims: Mapping[str, Any]) -> None:
        """Further checks of a kind of token; none in general.

        Raises:
            BadCredential: it is not.
        """


class CloudflareAccess(ExternalTokens):
    """Recognises what Cloudflare Access puts into ``Cf-Access-Jwt-Assertion``.

    Args:
        team: the team's address, such as ``https://TEAM.cloudflareaccess.com``.
        audience: the application's audience tag.
        recognise: says who the person of an account is, and makes one at first sight.
        clock: seconds since the epoch; replaced in tests.
    """

    HEADER = b"cf-access-jwt-assertion"
    """The header, in lower case."""
    provider = "cloudflare-access"
    whose = "Cloudflare Access assertion"
    vouched = True  # Access lets nobody in before the address is proved, and says so nowhere.

    def __init__(
        self,
        team: str,
        audience: str,
        recognise: Recognise,
        clock: Callable[[], float] = time.time,
    ) -> None:
        keys = Jwks(f"{team}/cdn-cgi/access/certs")
        super().__init__(team, audience, keys, ("RS256",), recognise, clock)

    async def identify(self, token: str, path: str) -> Identity:
        """The identity that an assertion proves.

        Raises:
            BadCredential: it is not the team's, or not good here.
        """
        identity = await super().identify(token, path)
        if identity is None:
            raise BadCredential(f"The {self.whose} does not come from {self._issuer}.")
        return identity

    def check(self, claims: Mapping[str, Any]) -> None:
        """An assertion must be about a person.

        Raises:
            BadCredential: it is a service token's.
        """
        if "common_name" in claims or not claims.get("sub"):
            raise BadCredential(
                "A service token of Cloudflare Access was sent, and behind it is no person. Use an "
                "API token of the portal: an admin makes one with `porch token create`."
            )
