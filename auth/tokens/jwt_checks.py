"""Reading JSON Web Tokens (RFC 7519), with the care that RFC 8725 asks for.

Before its signature is checked, a token only decides who checks it. The algorithm is always given
by the checker, never by the token; keys that a token carries or refers to (``jwk``, ``jku``,
``x5c``, ``x5u``) are ignored.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from auth.credentials import BadCredential

MAX_TOKEN_LENGTH = 16 * 1024
"""Characters of a token; what is longer is not read."""
TOO_LONG = (
    f"is longer than {MAX_TOKEN_LENGTH // 1024} KiB, so it is not read. Its issuer must put less "
    "into it: fewer groups, or only those that this portal asks for."
)
"""The message about a token that is too long, to follow its name."""


@dataclass(frozen=True, slots=True)
class Unverified:
    """What a token says about itself; anyone may have written it.

    Attributes:
        header: the JOSE header.
        claims: the claims.
    """

    header: Mapping[str, Any]
    claims: Mapping[str, Any]

    @property
    def issuer(self) -> str | None:
        """The ``iss`` claim, where it is text."""
        return _text(self.claims.get("iss"))

    @property
    def algorithm(self) -> str | None:
        """The ``alg`` that the token asks for."""
        return _text(self.header.get("alg"))

    @property
    def kid(self) -> str | None:
        """The id of the key that signed it."""
        return _text(self.header.get("kid"))


def unverified(token: str) -> Unverified | None:
    """Read a token without trusting it; None where it is no signed JWT in compact form."""
    if len(token) > MAX_TOKEN_LENGTH or token.count(".") != 2 or not token.isascii():
        return None
    header, claims, _ = token.split(".")
    try:
        parts = _object(header), _object(claims)
    except ValueError:
        return None
    return Unverified(*parts)


def verified(token: str, key: Any, algorithm: str, whose: str) -> dict[str, Any]:
    """The claims of a token, after its signature was checked and nothing else.

    Args:
        token: the token.
        key: the one key that may have signed it.
        algorithm: the one algorithm that may have been used.
        whose: what to call the token, such as "access token".

    Raises:
        BadCredential: the signature is not good, or the token is not well formed.
    """
    import jwt

    checks = ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")
    options: Any = {f"verify_{check}": False for check in checks}
    options["enforce_minimum_key_length"] = True
    try:
        return jwt.decode(token, key, algorithms=[algorithm], options=options)
    except (jwt.PyJWTError, ValueError, TypeError):
        raise BadCredential(f"The {whose} is not signed as it must be. Sign in again.") from None


def check_times(claims: Mapping[str, Any], now: float, skew: float, whose: str) -> float:
    """Check ``exp`` (which is required), ``nbf`` and ``iat``.

    Args:
        claims: of a token whose signature is good.
        now: seconds since the epoch.
        skew: seconds by which the issuer's clock may differ from ours.
        whose: what to call the token, such as "access token".

    Returns:
        When the token ends, in seconds since the epoch.

    Raises:
        BadCredential: the token has expired or is not good yet.
    """
    expires = _moment(claims, "exp", whose)
    if expires is None:
        raise BadCredential(f"The {whose} does not say when it ends, so it is not taken.")
    if now >= expires + skew:
        raise BadCredential(f"The {whose} has expired. Refresh it.")
    for claim in ("nbf", "iat"):
        moment = _moment(claims, claim, whose)
        if moment is not None and moment > now + skew:
            raise BadCredential(
                f"The {whose} is not good yet ({claim}). If it was made just now, one of the "
                "clocks is wrong: its issuer's or the portal's."
            )
    return expires


def issued_at(claims: Mapping[str, Any]) -> float | None:
    """When a token was made, in seconds since the epoch; None where it does not tell.

    Args:
        claims: of a token that :func:`check_times` has passed.
    """
    iat = claims.get("iat")
    return None if iat is None else float(iat)


def audiences(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """The ``aud`` claim as a tuple, whether it is written as one text or as a list."""
    audience = claims.get("aud")
    listed = audience if isinstance(audience, list) else [audience]
    return tuple(each for each in listed if isinstance(each, str))


def _moment(claims: Mapping[str, Any], claim: str, whose: str) -> float | None:
    value = claims.get(claim)
    if value is None:
        return None
    # NaN would compare as neither early nor late, and a vast integer is no float.
    if isinstance(value, bool) or not isinstance(value, int | float) or not _sensible(value):
        raise BadCredential(f"The {whose} has no readable time in {claim}, so it is not taken.")
    return float(value)


def _sensible(value: float) -> bool:
    return math.isfinite(value) if isinstance(value, float) else 0 <= value < 2**53


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _object(part: str) -> dict[str, Any]:
    try:
        value = from_json(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except binascii.Error as error:
        raise ValueError("no base64") from error
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value
