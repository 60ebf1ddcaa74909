"""The kept connections of one server: one for each credential, or for each client of it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.toolkit.bulkhead import Full
from plugins.upstreams.servers.link import Link

IDLE_SECONDS = 600.0
"""Seconds after which a client's own connection that nothing uses is closed."""
SHARED = "shared"
"""The client of the connection that all who have one credential share."""


@dataclass(slots=True, eq=False)
class _Own:
    """One client's own connection.

    Attributes:
        link: it.
        calls: how many calls use it.
        closing: closes it unless it is used again.
    """

    link: Link
    calls: int = 0
    closing: asyncio.TimerHandle | None = None


class Pool:
    """Hands out the connections.

    Args:
        make: makes one for a holder of a credential.
        most: how many clients may have one of their own at once.
    """

    def __init__(self, make: Callable[[str], Link], most: int) -> None:
        self._make = make
        self._most = most
        self._shared: dict[str, Link] = {}
        self._own: dict[tuple[str, str], _Own] = {}
        self._numbers = itertools.count()
        self._retired: dict[Link, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def shared(self, holder: str) -> Link:
        """The one that all share who have a holder's credential."""
        if (link := self._shared.get(holder)) is None:
            link = self._shared[holder] = self._make(holder)
        return link

    @contextmanager
    def lent(self, holder: str, client: str) -> Generator[Link]:
        """A connection for one call.

        Args:
            holder: whose credential it carries.
            client: stands for the caller's client; nothing where the call has one to itself, which
                ends with it, and :data:`SHARED` for what all share.

        Raises:
            Full: as many clients as may have one already, and all of them use it.
        """
        if client == SHARED:
            yield self.shared(holder)
            return
        key = holder, client or f" {next(self._numbers)}"
        own = self._taken(key)
        try:
            yield own.link
        finally:
            own.calls -= 1
            if not own.calls and self._own.get(key) is own:
                seconds = IDLE_SECONDS if client else 0.0
                own.closing = asyncio.get_running_loop().call_later(seconds, self._end, key)

    def _taken(self, key: tuple[str, str]) -> _Own:
        if (own := self._own.pop(key, None)) is None:
            if len(self._own) >= self._most:
                self._make_room()
            own = _Own(self._make(key[0]))
        self._own[key] = own  # the last: those used longest ago are closed first
        own.calls += 1
        if own.closing is not None:
            own.closing.cancel()
            own.closing = None
        return own

    def _make_room(self) -> None:
        idle = next((key for key, own in self._own.items() if not own.calls), None)
        if idle is None:
            raise Full
        self._end(idle)

    def _end(self, key: tuple[str, str]) -> None:
        own = self._own.pop(key)
        if own.closing is not None:
            own.closing.cancel()
        self._close(own.link)

    def part(self) -> None:
        """Share the connections that are shared no more; the calls that use them go on."""
        loop = asyncio.get_running_loop()
        for link in self._shared.values():
            self._retired[link] = loop.call_later(IDLE_SECONDS, self._end_retired, link)
        self._shared.clear()

    def _end_retired(self, link: Link) -> None:
        self._retired.pop(link).cancel()
        self._close(link)

    def forget(self, holder: str) -> None:
        """Close what carries a holder's credential."""
        if (link := self._shared.pop(holder, None)) is not None:
            self._close(link)
        for key in [key for key in self._own if key[0] == holder]:
            self._end(key)
        for link in [each for each in self._retired if each.holder == holder]:
            self._end_retired(link)

    def _close(self, link: Link) -> None:
        closing = asyncio.create_task(link.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all."""
        for holder in {*self._shared, *(each for each, _ in self._own)}:
            self.forget(holder)
        for link in list(self._retired):
            self._end_retired(link)
        await asyncio.gather(*self._closing, return_exceptions=True)
