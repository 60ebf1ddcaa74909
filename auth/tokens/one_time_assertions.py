"""Assertions that others sign for the portal's token endpoint, each good once (RFC 7521, RFC 7523).

Both kinds are looked at alike: a client's about itself (RFC 7523, section 2.2), and an identity
provider's about a person (draft-ietf-oauth-identity-assertion-authz-grant). A JWT of another kind
by the same signer passes for neither (RFC 8725, section 3.11), and none is good twice, on any
replica.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from auth.credentials import BadCredential
from auth.issuers.jwks import Jwks
from auth.single_use import SingleUseStore
from auth.tokens.external_tokens import MAX_CLOCK_SKEW_S, checked_claims
from auth.tokens.jwt_checks import Unverified, check_times, issued_at, unverified

MAX_ID_CHARACTERS = 2048
"""Characters of an assertion's id, and of the names in it: a client's may be its registration."""


class AssertionKind(NamedTuple):
    """A kind of assertion.

    Attributes:
        whose: what messages call one.
        types: what its header's ``typ`` may be; None stands for none.
        lifetime: seconds for which one may be good, at most.
        dated: whether it must say when it was made.
    """

    whose: str
    types: frozenset[str | None]
    lifetime: float
    dated: bool


def read_assertion(text: str, kind: AssertionKind) -> Unverified:
    """What an assertion says of itself, which decides who is to check it.

    Raises:
        BadCredential: it is no assertion of this kind.
    """
    read = unverified(text)
    if read is None:
        raise BadCredential(f"The {kind.whose} is no signed JWT.")
    if read.header.get("typ") not in kind.types:
        known = " or ".join(sorted(each for each in kind.types if each))
        raise BadCredential(f"The {kind.whose} has another type (typ) than {known}.")
    if "crit" in read.header:  # RFC 7515, section 4.1.11: what is not understood is not taken
        raise BadCredential(f"The {kind.whose} demands what is not known here (crit).")
    return read


async def checked_assertion(
    text: str,
    read: Unverified,
    keys: Jwks,
    algorithms: Sequence[str],
    kind: AssertionKind,
    now: float,
) -> Mapping[str, Any]:
    """The claims of an assertion whose signature, times and id are good.

    Args:
        text: the assertion.
        read: what it says of itself.
        keys: its signer's.
        algorithms: those that may have been used.
        kind: which kind it is to be.
        now: seconds since the epoch.

    Raises:
        BadCredential: they are not.
    """
    claims = await checked_claims(text, read, keys, algorithms, kind.whose)
    expires = check_times(claims, now, MAX_CLOCK_SKEW_S, kind.whose)
    longest = kind.lifetime + MAX_CLOCK_SKEW_S
    if expires - now > longest:
        raise BadCredential(f"The {kind.whose} is good for more than {kind.lifetime:g} s (exp).")
    made = issued_at(claims)
    if made is None and kind.dated:
        raise BadCredential(f"The {kind.whose} does not say when it was made (iat).")
    if made is not None and now - made > longest:
        raise BadCredential(f"The {kind.whose} was made more than {kind.lifetime:g} s ago (iat).")
    named(claims, "jti", kind)
    return claims


def named(claims: Mapping[str, Any], claim: str, kind: AssertionKind) -> str:
    """A claim that must be there, as a text.

    Raises:
        BadCredential: it is not.
    """
    value = claims.get(claim)
    if not isinstance(value, str) or not value or len(value) > MAX_ID_CHARACTERS:
        raise BadCredential(f"The {kind.whose} has no {claim} that can be read.")
    return value


def only_audience(claims: Mapping[str, Any], kind: AssertionKind) -> str:
    """The one audience of an assertion: one that is for others as well could be used by them.

    Raises:
        BadCredential: there is none, or more than one.
    """
    audience = claims.get("aud")
    listed = audience if isinstance(audience, list) else [audience]
    if len(listed) != 1 or not isinstance(listed[0], str):
        raise BadCredential(f"The {kind.whose} must be for this portal alone (aud).")
    return listed[0]


async def spend(
    claims: Mapping[str, Any], signer: str, kind: AssertionKind, spent: SingleUseStore
) -> None:
    """Use an assertion up, once everything else about it is good.

    Args:
        claims: of :func:`checked_assertion`.
        signer: who signed it; two signers may give the same id.
        kind: its kind.
        spent: records which were used, on all replicas.

    Raises:
        BadCredential: it was used before.
    """
    digest = hashlib.sha256(f"{signer}\0{claims['jti']}".encode()).hexdigest()
    until = datetime.fromtimestamp(float(claims["exp"]) + 2 * MAX_CLOCK_SKEW_S, UTC)
    if not await spent.spend(f"{kind.whose} {digest}", until):
        raise BadCredential(f"The {kind.whose} was used before (jti). Make a new one each time.")
