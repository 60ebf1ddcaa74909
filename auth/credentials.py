"""The credential that a request presents, and the errors of one that is not good."""

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


class UnknownCredential(BadCredential):
    """A bearer token of no known kind; it may be meant for another server."""


class UncheckedCredential(BadCredential):
    """A credential that nobody can check now, as its issuer does not answer: a 503, not a 401.

    A client would throw a refused one away, and send its person through sign-in again.
    """


BEARER = b"authorization"
"""The header of a bearer token (RFC 6750, section 2.1)."""


def presented(
    headers: Iterable[tuple[bytes, bytes]], assertions: frozenset[bytes] = frozenset()
) -> tuple[bytes, str] | None:
    """The one credential in raw ASGI headers.

    Args:
        headers: names in lower case.
        assertions: headers other than ``Authorization`` whose value is a token.

    Returns:
        The header's name and the token, or None where no credential was sent.

    Raises:
        BadCredential: there are two of them, or ``Authorization`` is not ``Bearer TOKEN``.
    """
    found: tuple[bytes, str] | None = None
    for name, value in headers:
        if name != BEARER and name not in assertions:
            continue
        token = _bearer(value) if name == BEARER else value.decode("latin-1").strip()
        if found is not None and (found[0] == name or found[1] != token):
            raise BadCredential("The request carries two credentials. Send one.")
        found = name, token
    return found


def _bearer(value: bytes) -> str:
    scheme, _, token = value.decode("latin-1").strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise BadCredential("Send the token as `Authorization: Bearer TOKEN`.")
    return token
