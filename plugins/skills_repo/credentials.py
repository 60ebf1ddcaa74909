"""The caller's own GitHub token, as it comes with a request (REQ-AUTH-001 to REQ-AUTH-003a)."""

from __future__ import annotations

import base64
import re

HEADER = "x-github-token"
"""The request header that carries a token at ``/mcp``, in lower case."""
PREFIXES = ("ghp_", "github_pat_", "gho_")
"""What GitHub's tokens for people and for OAuth apps begin with."""

_MAX_TOKEN_CHARS = 512
_ALPHABET = re.compile(r"[A-Za-z0-9_-]+={0,2}")
_TOKEN = re.compile(rf"(?:{'|'.join(PREFIXES)})[A-Za-z0-9_]+")


def bearer_token(text: str) -> str:
    """The GitHub token in a bearer token, which is its URL-safe Base64 (RFC 4648, section 5).

    Args:
        text: the bearer token; padding is optional.

    Raises:
        ValueError: it is not of that form; the reason repeats nothing of it.
    """
    bare = text.rstrip("=")
    if len(text) > _MAX_TOKEN_CHARS or not _ALPHABET.fullmatch(text) or len(bare) % 4 == 1:
        raise ValueError("the bearer token is not URL-safe Base64 (RFC 4648, section 5)")
    if text != bare and len(text) % 4:
        raise ValueError("the bearer token's Base64 padding is wrong")
    decoded = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != bare:
        raise ValueError("the bearer token's Base64 has stray bits at its end")
    token = decoded.decode("ascii", errors="replace")
    if not token.startswith(PREFIXES):
        raise ValueError(
            f"the bearer token does not hold a GitHub token ({', '.join(PREFIXES)} at its start)"
        )
    if not _TOKEN.fullmatch(token):
        raise ValueError("the bearer token holds a GitHub token with characters that none has")
    return token
