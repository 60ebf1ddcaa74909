"""The public keys of another issuer (RFC 7517): fetched when needed, and cached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from auth.issuers.discovery import RETRY_INTERVAL_S, Fetch, IssuerUnavailable, fetch_json

if TYPE_CHECKING:
    import jwt

ALGORITHMS: Mapping[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""The signature algorithms that can be accepted, each with its key type and curve.

All are asymmetric: a public key is never taken for a shared secret.
"""
MIN_CACHE_S, MAX_CACHE_S = 5 * 60.0, 24 * 3600.0
"""Seconds for which keys are cached at least and at most, whatever their server says."""
DEFAULT_CACHE_S = 3600.0
"""Seconds for which keys are cached if their server says nothing."""
UNKNOWN_KEY_INTERVAL_S = 30.0
"""Seconds between two fetches because of a key id that is not in the set."""
MAX_STALE_S = 24 * 3600.0
"""Seconds for which expired keys are used while the issuer does not answer."""
MAX_KEYS = 100
"""Keys that are read of one set."""
_RSA_KEY_BITS = range(2048, 8193)  # of an RSA key: fewer can be broken, more cost too much time


@dataclass(frozen=True, slots=True)
class _Kept:
    keys: tuple[Mapping[str, Any], ...]
    until: float


class Jwks:
    """An issuer's keys, by id.

    They are fetched when the first token arrives, one request at a time. An unknown key id causes
    another fetch, but at most one every 30 s, so that a flood of made-up ids does not become a
    flood for the issuer.

    Args:
        where: the address of the key set, or what finds it, such as ``Discovery.jwks_uri``.
        fetch: fetches documents.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self,
        where: str | Callable[[], Awaitable[str]],
        fetch: Fetch = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where = where
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._kept: _Kept | None = None
        self._asked = float("-inf")
        self._problem: IssuerUnavailable | None = None
        self._ready: dict[tuple[str | None, str], jwt.PyJWK] = {}

    async def key(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key that may have signed a token.

        Args:
            kid: the key's id as the token gives it; None finds the only key that fits.
            algorithm: the algorithm, one of :data:`ALGORITHMS`.

        Returns:
            None where the issuer has no such key for signatures of this algorithm.

        Raises:
            IssuerUnavailable: the issuer's keys are not known, or too old to be used.
        """
        if self._is_due():
            await self._refresh(self._is_due)
        found = self._find(kid, algorithm)
        if found is None and self._may_ask():
            await self._refresh(self._may_ask)
            found = self._find(kid, algorithm)
        if found is None and self._problem is not None:
            raise self._problem  # the key may be a new one, which nobody could be asked about
        return found

    def _is_due(self) -> bool:
        fresh = self._kept is not None and self._clock() < self._kept.until
        return not fresh and self._clock() - self._asked >= RETRY_INTERVAL_S

    def _may_ask(self) -> bool:
        return self._clock() - self._asked >= UNKNOWN_KEY_INTERVAL_S

    async def _refresh(self, needed: Callable[[], bool]) -> None:
        if self._lock.locked() and self._are_usable():
            return  # a fetch is under way, and these keys can be used meanwhile
        async with self._lock:
            if not needed():
                return
            try:
                self._kept = await self._fetched()
            except IssuerUnavailable as problem:
                self._problem = problem
            else:
                self._problem = None
                self._ready.clear()
            self._asked = self._clock()

    async def _fetched(self) -> _Kept:
        url = self._where if isinstance(self._where, str) else await self._where()
        document = await self._fetch(url)
        keys = document.content.get("keys")
        if not isinstance(keys, list):
            raise IssuerUnavailable(f"{url} answers with something that is no set of keys.")
        age = DEFAULT_CACHE_S if document.max_age_s is None else document.max_age_s
        until = self._clock() + min(max(age, MIN_CACHE_S), MAX_CACHE_S)
        return _Kept(tuple(key for key in keys[:MAX_KEYS] if isinstance(key, dict)), until)

    def _are_usable(self) -> bool:
        return self._kept is not None and self._clock() < self._kept.until + MAX_STALE_S

    def _find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        if self._kept is None or not self._are_usable():
            raise self._problem or IssuerUnavailable("The issuer's keys are not known yet.")
        if ready := self._ready.get((kid, algorithm)):
            return ready
        fitting = [key for key in self._kept.keys if _fits(key, algorithm)]
        if kid is not None:
            fitting = [key for key in fitting if key.get("kid") == kid]
        elif len(fitting) != 1:
            return None
        found = _first_good(fitting, algorithm)
        if found is not None:
            self._ready[kid, algorithm] = found
        return found


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    kty, curve = ALGORITHMS[algorithm]
    operations = key.get("key_ops")
    return (
        key.get("kty") == kty
        and (curve is None or key.get("crv") == curve)
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
        and (not isinstance(operations, list) or "verify" in operations)
        and "d" not in key  # a private key that is published is anybody's
    )


def _first_good(keys: Iterable[Mapping[str, Any]], algorithm: str) -> jwt.PyJWK | None:
    import jwt

    for key in keys:
        try:
            made = jwt.PyJWK(dict(key), algorithm)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        if key.get("kty") != "RSA" or made.key.key_size in _RSA_KEY_BITS:
            return made
    return None
