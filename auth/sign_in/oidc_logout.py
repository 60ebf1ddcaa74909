"""Logout tokens, by which a provider reports that it has signed somebody out.

OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from auth.callers import SignedOut
from auth.credentials import BadCredential
from auth.issuers.jwks import ALGORITHMS, Jwks
from auth.single_use import SingleUseStore
from auth.tokens.external_tokens import MAX_CLOCK_SKEW_S, checked_claims
from auth.tokens.jwt_checks import audiences, check_times, issued_at, unverified

EVENT = "http://schemas.openid.net/event/backchannel-logout"
"""The one event that a logout token reports."""
MAX_TEXT_LENGTH = 255
"""Characters of a subject, a session's id or a token's id."""

_WHOSE = "logout token"
_MAX_TIMESTAMP_S = 32503680000.0  # the year 3000: databases keep no time that is much later
_TYPES = frozenset({None, "JWT", "logout+jwt", "application/logout+jwt"})


async def signed_out(
    token: str,
    issuer: str,
    client_id: str,
    jwks: Jwks,
    spent: SingleUseStore,
    clock: Callable[[], float],
) -> SignedOut:
    """Whom a logout token signs out.

    Args:
        token: the token.
        issuer: the provider that must have made it.
        client_id: the portal's client id there.
        jwks: the provider's keys.
        spent: records which tokens were used, on all replicas.
        clock: seconds since the epoch.

    Raises:
        BadCredential: the token is not the provider's for this portal, is no logout token, or was
            used before.
    """
    read = unverified(token)
    if read is None or read.issuer != issuer or read.header.get("typ") not in _TYPES:
        raise BadCredential(f"This is no {_WHOSE} of {issuer}.")
    claims = await checked_claims(token, read, jwks, tuple(ALGORITHMS), _WHOSE)
    ends = check_times(claims, clock(), MAX_CLOCK_SKEW_S, _WHOSE)
    _check(claims, client_id)
    subject, sid, jti = (_text(claims, claim) for claim in ("sub", "sid", "jti"))
    if subject is None and sid is None:
        raise BadCredential(f"The {_WHOSE} names nobody: neither sub nor sid.")
    if jti is None:
        raise BadCredential(f"The {_WHOSE} has no id (jti).")
    until = datetime.fromtimestamp(min(ends, _MAX_TIMESTAMP_S) + MAX_CLOCK_SKEW_S, UTC)
    if not await spent.spend(f"logout {issuer} {jti}", until):
        raise BadCredential(f"The {_WHOSE} was used before.")
    return SignedOut(issuer, subject and f"oidc:{issuer}#{subject}", sid)


def _check(claims: Mapping[str, Any], client_id: str) -> None:
    if issued_at(claims) is None:
        raise BadCredential(f"The {_WHOSE} does not say when it was made (iat).")
    if client_id not in audiences(claims):
        raise BadCredential(f"The {_WHOSE} is for another application (aud).")
    # An ID token has a nonce and no events: neither passes for the other.
    events = claims.get("events")
    if not isinstance(events, Mapping) or not isinstance(events.get(EVENT), Mapping):
        raise BadCredential(f"The {_WHOSE} does not tell of a logout (events).")
    if "nonce" in claims:
        raise BadCredential(f"The {_WHOSE} has a nonce, as only an ID token may.")


def _text(claims: Mapping[str, Any], claim: str) -> str | None:
    value = claims.get(claim)
    if value is None:
        return None
    if (
        not isinstance(value, str)
        or not value
        or len(value) > MAX_TEXT_LENGTH
        or not value.isprintable()
    ):
        raise BadCredential(f"The {_WHOSE} has no readable {claim}.")
    return value
