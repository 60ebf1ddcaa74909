"""Ids and keys of what a playbook holds."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import unicodedata

from plugins.workflows import limits
from plugins.workflows.model import TargetType

_LENGTH = 20
_NO_LETTERS = re.compile(r"[^a-z0-9]+")


def new_id() -> str:
    """A hundred random bits, so that no id is ever made twice."""
    return _encode(secrets.token_bytes(13))


def portal_id(kind: TargetType, key: str) -> str:
    """The id of an item of the portal's own: the same one for the same kind and key."""
    return derived_id(kind, key)


def derived_id(*parts: str) -> str:
    """An id that follows from what it is made of."""
    return _encode(hashlib.sha256("\0".join(parts).encode()).digest())


def slug(name: str) -> str:
    """A key made of a name: at most 100 characters of ``[a-z0-9-]``, never empty.

    A name without any letter or digit of ours gets one that follows from it.
    """
    folded = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(each for each in folded if not unicodedata.combining(each))
    made = _NO_LETTERS.sub("-", plain).strip("-")[: limits.MAX_KEY_CHARS].rstrip("-")
    return made or f"x-{derived_id('slug', name)[:8]}"


def _encode(data: bytes) -> str:
    return base64.b32encode(data).decode()[:_LENGTH].lower()
