"""Remembers who has shown, with a GitHub token, that they may read a repository.

A token is never kept: what stands here is a keyed hash of it, under a key that this process made
for itself and that is nowhere else. So neither the memory of a proof nor its key tells the token.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

MAX_TTL_S = 600.0
"""Seconds for which a proof holds at most."""
CACHE_SIZE = 4096
"""Proofs that are remembered; the oldest is forgotten first."""


class AccessCache:
    """Remembers granted access for a while.

    Args:
        seconds: how long a proof holds; at most :data:`MAX_TTL_S`.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self, seconds: float = MAX_TTL_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = min(seconds, MAX_TTL_S)
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._proved: OrderedDict[bytes, float] = OrderedDict()

    def mark(self, token: str, person: str, repository: str) -> bytes:
        """The hash that stands for a token, a caller and a repository.

        Args:
            token: the caller's own.
            person: the caller, or an empty text.
            repository: ``owner/repo``.
        """
        parts = (text.encode(errors="surrogatepass") for text in (token, person, repository))
        hashed = hashlib.blake2b(key=self._key, digest_size=32)
        for part in parts:
            hashed.update(len(part).to_bytes(8, "big") + part)
        return hashed.digest()

    def holds(self, mark: bytes) -> bool:
        """Whether access was granted recently enough."""
        return self._clock() < self._proved.get(mark, 0.0)

    def proved(self, mark: bytes, asked: float) -> None:
        """Remember that GitHub granted access.

        Args:
            mark: to whom, and which.
            asked: when it was asked, by the clock.
        """
        self._proved[mark] = asked + self._seconds
        self._proved.move_to_end(mark)
        while len(self._proved) > CACHE_SIZE:
            self._proved.popitem(last=False)

    def refused(self, mark: bytes) -> None:
        """Forget granted access: GitHub has just refused."""
        self._proved.pop(mark, None)
