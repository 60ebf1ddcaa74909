"""Encrypts what a plugin keeps and nobody else may read; reached through ``Host.vault``."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable

_NONCE_BYTES = 12


class NotOpened(Exception):
    """A text was not sealed with this key, or not for this purpose."""


def _no_key() -> bytes:
    raise RuntimeError("There is no vault outside of the portal's own process.")


class Vault:
    """Seals texts with AES-256-GCM, under a key of the plugin's own (HKDF of the portal's key).

    Args:
        key: gives the portal's signing key, which is the same on every replica.
        owner: whose vault it is: what one plugin seals no other opens.
    """

    def __init__(self, key: Callable[[], bytes] = _no_key, owner: str = "") -> None:
        self._root = key
        self._owner = owner
        self._key: bytes | None = None

    def seal(self, text: str, about: str) -> str:
        """A text that only :meth:`open` with the same ``about`` reads.

        Args:
            text: the secret.
            about: what it belongs to, such as a person's id: sealed texts cannot be swapped.
        """
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = AESGCM(self._derived()).encrypt(nonce, text.encode(), about.encode())
        return base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, sealed: str, about: str) -> str:
        """The text.

        Raises:
            NotOpened: it was sealed with another key, for something else, or is damaged.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            data = base64.urlsafe_b64decode(sealed)
            nonce, rest = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
            return AESGCM(self._derived()).decrypt(nonce, rest, about.encode()).decode()
        except (ValueError, InvalidTag):
            raise NotOpened("This was not sealed here.") from None

    def _derived(self) -> bytes:
        if self._key is None:
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF

            info = f"porch-vault:{self._owner}".encode()
            self._key = HKDF(SHA256(), 32, salt=None, info=info).derive(self._root())
        return self._key
