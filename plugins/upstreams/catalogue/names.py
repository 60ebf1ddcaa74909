"""What members see a server's tools called: the server's name, two underscores, and its own.

A name depends on nothing but the two, so that it is the same on every replica and after every
restart. What clients do not take (SEP-986, and 45 characters beside their own prefix) is replaced,
and the name ends in a part of a digest then, so that no two names become one.
"""

from __future__ import annotations

import hashlib
import re

MAX_CHARACTERS = 45
SEPARATOR = "__"
_DIGEST_CHARACTERS = 6
_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_-]+")


def shown_name(server: str, name: str) -> str:
    """What the portal calls a server's tool or prompt: 1 to 45 of ``[A-Za-z0-9_-]``."""
    plain = f"{server}{SEPARATOR}{_NOT_TAKEN.sub('_', name)}"
    if len(plain) <= MAX_CHARACTERS and plain == f"{server}{SEPARATOR}{name}":
        return plain
    digest = hashlib.sha256(f"{server}/{name}".encode()).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{plain[: MAX_CHARACTERS - _DIGEST_CHARACTERS - 1]}-{digest}"


def key_of(server: str, name: str) -> str:
    """What ``tiers.yaml`` and the records call it, below ``upstreams/``."""
    return f"{server}/{name}"
