"""The form that a token must have to be sent in a header."""

from __future__ import annotations

import re

MAX_TOKEN_CHARACTERS = 512
"""Characters of a token."""

_PLAIN = re.compile(r"[\x21-\x7e]+")


def is_plain(token: str) -> bool:
    """Whether a token can stand in a header: visible ASCII, and not too long."""
    return len(token) <= MAX_TOKEN_CHARACTERS and _PLAIN.fullmatch(token) is not None
