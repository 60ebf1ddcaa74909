"""Static tokens from the environment, for development and tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from auth.callers import Identity
from auth.tiers import Tier


class StaticTokens:
    """Tokens that grant a tier by themselves, as in ``members:abc,public:def``.

    Only their SHA-256 digests are kept; a look-up compares digests, so that its time says
    nothing about a token.
    """

    def __init__(self, tokens: Mapping[str, Tier]) -> None:
        self._identities = {
            _digest(token): Identity(
                person=f"static:{_digest(token)[:8]}", provider="static-token", granted=tier
            )
            for token, tier in tokens.items()
        }

    @classmethod
    def parse(cls, text: str) -> StaticTokens:
        """Read ``TIER:TOKEN`` pairs separated by commas.

        Raises:
            ValueError: a pair has no known tier or no token; the message names its place in
                the list and never the token.
        """
        tokens: dict[str, Tier] = {}
        for place, pair in enumerate(filter(None, map(str.strip, text.split(","))), start=1):
            word, _, token = pair.partition(":")
            if word not in set(Tier) or not token:
                raise ValueError(f"pair {place} is not TIER:TOKEN with open, public or members")
            tokens[token] = Tier(word)
        return cls(tokens)

    def __bool__(self) -> bool:
        return bool(self._identities)

    async def identify(self, token: str, path: str) -> Identity | None:
        """The identity that a token proves, at any path, or None where it is not one of ours."""
        return self._identities.get(_digest(token))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
