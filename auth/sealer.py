"""Sealed texts: signed values that the portal hands to a browser or a client and gets back.

A sealed text is signed and expires; it is not encrypted, so it holds nothing secret. With it the
portal keeps no state for people who have proved nothing yet, and a flood of them costs no memory.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json, to_json


class BadSeal(Exception):
    """The text was not sealed here, is for another purpose or holder, or has expired."""


class Sealer:
    """Seals and opens texts for one purpose; texts of another purpose are refused.

    Args:
        key: the portal's signing key; the same on every replica.
        purpose: what the texts are for, such as ``consent``.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(self, key: bytes, purpose: str, clock: Callable[[], float] = time.time) -> None:
        self._key = hmac.new(key, f"porch-seal:{purpose}".encode(), hashlib.sha256).digest()
        self._clock = clock

    def seal(self, payload: Mapping[str, Any], lifetime: float, bound_to: str = "") -> str:
        """Seal JSON values.

        Args:
            payload: the values; anyone may read them.
            lifetime: seconds for which the text is good.
            bound_to: what must be presented again to open it, such as a browser's cookie.

        Returns:
            URL-safe text.
        """
        body = _encode(to_json([int(self._clock() + lifetime), payload]))
        return f"{body}.{self._sign(body, bound_to)}"

    def open(self, sealed: str, bound_to: str = "") -> dict[str, Any]:
        """The values of a sealed text.

        Raises:
            BadSeal: the text is not ours, is bound to something else, or is too old.
        """
        body, _, signature = sealed.partition(".")
        if not hmac.compare_digest(self._sign(body, bound_to).encode(), _bytes(signature)):
            raise BadSeal("It was not made here, or not for this.")
        try:
            until, payload = from_json(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        except (ValueError, binascii.Error):  # signed by us and yet unreadable: another version's
            raise BadSeal("It cannot be read.") from None
        if self._clock() > until:
            raise BadSeal("It has expired.")
        opened: dict[str, Any] = payload
        return opened

    def now(self) -> float:
        """Seconds since the epoch, by the clock that sealed texts expire by."""
        return self._clock()

    def mark(self, text: str) -> str:
        """A short text that only this sealer can derive from ``text``: 43 URL-safe characters."""
        return _encode(hmac.new(self._key, b"mark:" + _bytes(text), hashlib.sha256).digest())

    def _sign(self, body: str, bound_to: str) -> str:
        # Of a fixed length, so that no part of what a text is bound to can pass for its body.
        bound = hashlib.sha256(_bytes(bound_to)).digest()
        message = b"seal:" + bound + _bytes(body)
        return _encode(hmac.new(self._key, message, hashlib.sha256).digest())


def _bytes(text: str) -> bytes:
    """The bytes of any text that a request may hold, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
