"""The one place where a request's credential becomes a caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from auth.callers import ANONYMOUS, Caller, Identity
from auth.credentials import BadCredential, bearer_token
from auth.tiers import Tier


class TokenVerifier(Protocol):
    """Recognises one kind of bearer token."""

    def identify(self, token: str) -> Identity | None:
        """The identity that the token proves, or None where it is not this kind's."""
        ...


class Authenticator:
    """Turns the headers of a request into its :class:`Caller`.

    Args:
        verifiers: asked in order; the first that knows the token decides.
    """

    def __init__(self, verifiers: Sequence[TokenVerifier] = ()) -> None:
        self._verifiers = tuple(verifiers)

    def caller(self, headers: Iterable[tuple[bytes, bytes]]) -> Caller:
        """Say who is calling.

        Args:
            headers: raw ASGI headers, names in lower case.

        Returns:
            The anonymous caller where no credential was sent.

        Raises:
            BadCredential: a credential was sent and is not good.
        """
        token = bearer_token(headers)
        if token is None:
            return ANONYMOUS
        for verifier in self._verifiers:
            if identity := verifier.identify(token):
                return resolve(identity)
        raise BadCredential("The token is not known here, or no longer. Check it, or ask an admin.")


def resolve(identity: Identity) -> Caller:
    """Resolve an identity to a caller: the only place where a tier is decided."""
    tier = identity.granted or Tier.PUBLIC
    why = f"The {identity.provider} {identity.person} grants {tier}."
    return Caller(person=identity.person, tier=tier, reasons=(why,), name=identity.name)
