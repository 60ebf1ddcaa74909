"""What a request presents to prove who it is, and the refusal of what proves nothing."""

from __future__ import annotations

from collections.abc import Iterable


class BadCredential(Exception):
    """A credential was presented and is not good: a 401, never a silent step down.

    Args:
        reason: what is wrong with it and what to do, without the credential itself.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def bearer_token(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Take the bearer token out of raw ASGI headers (RFC 6750, section 2.1).

    Returns:
        The token, or None where no ``Authorization`` header was sent.

    Raises:
        BadCredential: the header is not ``Bearer TOKEN``, or it was sent twice.
    """
    found: str | None = None
    for name, value in headers:
        if name != b"authorization":
            continue
        if found is not None:
            raise BadCredential("The request carries two Authorization headers. Send one.")
        scheme, _, token = value.decode("latin-1").partition(" ")
        found = token.strip()
        if scheme.lower() != "bearer" or not found:
            raise BadCredential("Send the token as `Authorization: Bearer TOKEN`.")
    return found
