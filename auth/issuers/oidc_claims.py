"""What an OpenID Connect provider says about a person, as an account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auth.callers import Account
from auth.claims import dated
from auth.credentials import BadCredential

_TIMES = {"exp", "iat", "nbf", "auth_time"}
_HASHES = {"at_hash", "c_hash", "s_hash"}
PROTOCOL = frozenset({"iss", "sub", "aud", "azp", "jti", "nonce", "sid"} | _TIMES | _HASHES)
"""Claims about the token; all others are about the person."""
MAX_TEXT_LENGTH = 255
"""Characters of a subject (OpenID Connect Core 1.0, section 2), a name or an email address."""


def account(
    issuer: str, claims: Mapping[str, Any], *, at: float | None, vouched: bool = False
) -> Account:
    """The account of a subject.

    Args:
        issuer: who says it; a subject means nothing without it.
        claims: what it says, already verified.
        at: when it said so, in seconds since the epoch; None where the token does not tell.
        vouched: whether the issuer answers for every email address that it gives, so that
            ``email_verified`` is not asked for.

    Raises:
        BadCredential: there is no subject.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _is_plain(subject):
        raise BadCredential("The token does not say whom it is about (sub), so it is not taken.")
    said = {name: value for name, value in claims.items() if name not in PROTOCOL}
    return Account(
        subject=f"oidc:{issuer}#{subject}",
        provider="oidc",
        name=_first_text(claims, "name", "preferred_username", "nickname"),
        email=verified_email(claims, vouched=vouched),
        claims=said,
        dated={} if at is None else dated(said, at),
        sid=_session(claims.get("sid")),
    )


def _session(sid: Any) -> str | None:
    return sid if isinstance(sid, str) and _is_plain(sid) else None


def verified_email(claims: Mapping[str, Any], *, vouched: bool = False) -> str | None:
    """The email address in lower case, where the issuer has verified it."""
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email or not _is_plain(email):
        return None
    return email.lower() if vouched or claims.get("email_verified") is True else None


def _first_text(claims: Mapping[str, Any], *names: str) -> str | None:
    values = (claims.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and _is_plain(value)), None)


def _is_plain(text: str) -> bool:
    # People write their own names: no line breaks, nothing invisible, nothing endless.
    return bool(text.strip()) and text.isprintable() and len(text) <= MAX_TEXT_LENGTH
