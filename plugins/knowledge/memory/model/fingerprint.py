"""What two entries have in common that say the same in the same words."""

from __future__ import annotations

import hashlib
import unicodedata


def fingerprint(content: str) -> str:
    """What two contents have in common that say the same in the same words.

    Case, spacing and the ways Unicode has to write one character make no difference.
    """
    words = unicodedata.normalize("NFKC", content).casefold().split()
    return hashlib.blake2b(" ".join(words).encode(), digest_size=16).hexdigest()
