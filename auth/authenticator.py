"""The one place where a request's credential becomes a caller."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from auth.callers import ANONYMOUS, Caller, Identity
from auth.credentials import BEARER, BadCredential, UnknownCredential, presented
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.tokens.jwt_checks import MAX_TOKEN_LENGTH, TOO_LONG

CREDENTIAL_CACHE_SIZE = 2048
"""Credentials that one process caches, least recently used first out.

Each takes about 1.4 KiB with its person, so 3 MiB in all; looking one up takes two reads of the
database, one or two milliseconds.
"""
LOOKUP_INTERVAL_S = 300.0
"""Seconds after which a credential is looked up again, whether or not it changed."""


class Verifier(Protocol):
    """Recognises one kind of credential."""

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that a token proves, or None where it is not of this kind.

        Args:
            token: the token as it was presented.
            path: the path of the request, for which the token must be meant.

        Raises:
            BadCredential: it is of this kind and not good, or not good at this path.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Known:
    identity: Identity
    looked_up: float
    until: float


class Authenticator:
    """Turns the headers of a request into its :class:`Caller`.

    Args:
        resolver: decides tiers.
        revocations: say whether a cached identity may still be used.
        verifiers: of bearer tokens, asked in order; the first that knows the token decides.
        assertions: verifiers of what other headers carry, by the header's name in lower case.
    """

    def __init__(
        self,
        resolver: Resolver,
        revocations: Revocations,
        verifiers: Sequence[Verifier] = (),
        assertions: Mapping[bytes, Verifier] | None = None,
    ) -> None:
        self._resolver = resolver
        self._revocations = revocations
        self._verifiers = {BEARER: tuple(verifiers)} | {
            header: (verifier,) for header, verifier in (assertions or {}).items()
        }
        self._assertions = frozenset(assertions or {})
        self._known: OrderedDict[tuple[bytes, ...], _Known] = OrderedDict()

    async def caller(self, headers: Iterable[tuple[bytes, bytes]], path: str) -> Caller:
        """Say who is calling.

        Args:
            headers: raw ASGI headers, names in lower case.
            path: the path of the request.

        Returns:
            The anonymous caller where no credential was sent.

        Raises:
            BadCredential: a credential was sent and is not good; :class:`UnknownCredential`
                where it is a bearer token of no kind that is known here.
        """
        credential = presented(headers, self._assertions)
        if credential is None:
            return ANONYMOUS
        return await self._resolver.resolve(await self._identity(*credential, path))

    async def _identity(self, header: bytes, token: str, path: str) -> Identity:
        # Digests are the key, so that neither the time of a look-up nor a dump of the memory
        # reveals more of a token than its digest, and long paths take no memory.
        digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")) for text in (token, path))
        key = (header, *(each.digest() for each in digests))
        known = self._known.get(key)
        if known is not None:
            if self._is_good(known):
                self._known.move_to_end(key)
                return known.identity
            del self._known[key]
        looked_up = self._revocations.now()
        identity = await self._identify(header, token, path)
        until = min(identity.expires or float("inf"), time.time() + LOOKUP_INTERVAL_S)
        self._known[key] = _Known(identity, looked_up, until)
        while len(self._known) > CREDENTIAL_CACHE_SIZE:
            self._known.popitem(last=False)
        return identity

    def _is_good(self, known: _Known) -> bool:
        return time.time() < known.until and self._revocations.holds(
            known.identity.tags, known.looked_up
        )

    async def _identify(self, header: bytes, token: str, path: str) -> Identity:
        for verifier in self._verifiers[header]:
            if identity := await verifier.identify(token, path):
                return identity
        unknown = UnknownCredential if header == BEARER else BadCredential
        if len(token) > MAX_TOKEN_LENGTH:
            raise unknown(f"The token {TOO_LONG}")
        raise unknown("The token is not known here, or no longer. Check it, or sign in.")
