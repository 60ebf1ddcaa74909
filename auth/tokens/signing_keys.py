"""The keys that sign the portal's own access tokens: derived from its signing key, one a period.

Nothing is stored: every replica derives the same keys from the same signing key, and the time
decides which one signs. The previous and the next key verify too and are published as well, so
that tokens outlive a change of keys, replicas may have clocks that differ, and whoever caches the
published set has the key that they need.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

ALGORITHM = "EdDSA"
"""The one algorithm of the portal's own tokens: Ed25519 (RFC 8037)."""
KEY_PERIOD_S = 90 * 24 * 3600.0
"""Seconds for which one key signs; far longer than an access token lives."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The key of one period.

    Attributes:
        kid: its id, the thumbprint of its public part (RFC 7638).
        private: signs.
        public: verifies.
        jwk: the public part as it is published (RFC 8037, section 2).
    """

    kid: str
    private: Ed25519PrivateKey = field(repr=False)
    public: Ed25519PublicKey = field(repr=False)
    jwk: dict[str, str]


class SigningKeys:
    """The keys of the current, the previous and the next period.

    Args:
        key: the portal's signing key; the same on every replica.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(self, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._clock = clock
        self._made: dict[int, SigningKey] = {}

    def current(self) -> SigningKey:
        """The key that signs now."""
        number = self._number()
        return self._good()[number]

    def public(self, kid: str) -> Ed25519PublicKey | None:
        """The public key of an id, or None if it is not ours or too old."""
        return next((key.public for key in self._good().values() if key.kid == kid), None)

    def jwks(self) -> dict[str, Any]:
        """The public keys as a JWK set (RFC 7517, section 5)."""
        return {"keys": [key.jwk for key in self._good().values()]}

    def _number(self) -> int:
        return int(self._clock() // KEY_PERIOD_S)

    def _good(self) -> dict[int, SigningKey]:
        number = self._number()
        wanted = range(number - 1, number + 2)
        if self._made.keys() != set(wanted):
            self._made = {each: self._made.get(each) or self._make(each) for each in wanted}
        return self._made

    def _make(self, number: int) -> SigningKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        derive = HKDF(SHA256(), 32, salt=None, info=f"porch-access-token-key:{number}".encode())
        private = Ed25519PrivateKey.from_private_bytes(derive.derive(self._key))
        public = private.public_key()
        # In the order of their names and without spaces: so RFC 7638 wants them hashed.
        members = {"crv": "Ed25519", "kty": "OKP", "x": _encode(public.public_bytes_raw())}
        kid = _encode(hashlib.sha256(to_json(members)).digest())
        jwk = {**members, "kid": kid, "use": "sig", "alg": ALGORITHM}
        return SigningKey(kid, private, public, jwk)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
