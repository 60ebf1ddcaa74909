"""How many streams may be open in this process: in all, and of each caller.

A person has a share, whatever clients they use. Who is anonymous has the share of their address,
and all addresses of a network have one together, so that nobody takes every place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from auth import Caller
from gateway.errors import PortalError
from gateway.limits.networks import network_of

if TYPE_CHECKING:
    from gateway.config.portal_keys import Streams

RETRY_AFTER_SECONDS = 5
"""Seconds after which to ask again for a stream that was refused."""


class TooManyStreams(PortalError):
    """The caller, or all callers together, have as many streams open as there may be.

    Args:
        message: which, and what to do.
        item: whose tier the stream carries, for the record.
    """

    code = "too_many_streams"
    status = 503
    headers: ClassVar[tuple[tuple[bytes, bytes], ...]] = (
        (b"retry-after", b"%d" % RETRY_AFTER_SECONDS),
    )

    def __init__(self, message: str, item: str = "") -> None:
        super().__init__(message, {"retryAfterSeconds": RETRY_AFTER_SECONDS})
        self.item = item


class ShareTaken(TooManyStreams):
    """The caller has as many streams open as one may have."""

    status = 429


class StreamShares:
    """The places for streams, and who holds how many of them.

    Args:
        limits: ``limits.streams`` of ``portal.yaml``.
    """

    def __init__(self, limits: Streams) -> None:
        self._limits = limits
        self._held: Counter[str] = Counter()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    @contextmanager
    def hold(self, caller: Caller, peer: str, item: str = "") -> Generator[None]:
        """Hold a place for as long as the block lasts.

        Args:
            caller: who asks for one.
            peer: where from, which is what anonymous callers are told apart by.
            item: whose tier the stream carries, for the record.

        Raises:
            ShareTaken: the caller's share is taken.
            TooManyStreams: every place is.
        """
        shares = list(self._shares(caller, peer))
        for key, limit, whose in shares:
            if self._held[key] >= limit:
                raise ShareTaken(f"{whose} {limit} streams open. Close one first.", item)
        if self._open >= self._limits.total:
            raise TooManyStreams("No more streams can be opened here. Try again later.", item)
        self._change(shares, 1)
        try:
            yield
        finally:
            self._change(shares, -1)

    def _shares(self, caller: Caller, peer: str) -> Iterator[tuple[str, int, str]]:
        if caller.person is not None:
            yield f"person:{caller.person}", self._limits.person, "You have"
            return
        network = network_of(peer)
        yield f"address:{peer}", self._limits.address, "Callers of your address have"
        if network != peer:
            yield f"network:{network}", self._limits.network, "Callers of your network have"

    def _change(self, shares: list[tuple[str, int, str]], by: int) -> None:
        self._open += by
        for key, _, _ in shares:
            self._held[key] += by
            if not self._held[key]:
                del self._held[key]
