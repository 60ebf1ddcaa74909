"""The resources of one server that clients follow: one subscription there, whoever follows here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING

from gateway.contract import ToolFailed
from gateway.toolkit.retry import backoff
from plugins.upstreams.wire import MAX_WATCHED, Connection, RpcError, WireError

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 30.0
"""Seconds until a server that could not be subscribed to is tried again: at first, and at most."""


class Following:
    """Keeps the subscription.

    Args:
        connect: gives the server's connection.
        updated: told which followed resource has changed, or may have.
        log: tells what a server refuses.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        updated: Callable[[str], None],
        log: FilteringBoundLogger,
    ) -> None:
        self._connect = connect
        self._updated = updated
        self._log = log
        self._uris: frozenset[str] = frozenset()
        self._wake = asyncio.Event()
        self._watched: Connection | None = None

    def follow(self, uris: Collection[str]) -> None:
        """Follow these resources from now on, and no others any more.

        Of more than one connection may watch, those that come first by name.
        """
        if len(uris) > MAX_WATCHED:
            self._log.warning("too_many_resources_followed", asked=len(uris), most=MAX_WATCHED)
            uris = sorted(uris)[:MAX_WATCHED]
        if self._uris != (wanted := frozenset(uris)):
            self._uris = wanted
            self._wake.set()

    def anew(self) -> None:
        """There is another connection, which knows of no subscription."""
        if self._uris:
            self._wake.set()

    def missed(self) -> None:
        """What the server said meanwhile is lost: each resource may have changed."""
        for uri in self._uris:
            self._updated(uri)

    def told(self, uri: str) -> None:
        """The server says that a resource, or one below a followed one, has changed."""
        for each in self._uris:
            if uri == each or uri.startswith(f"{each.rstrip('/')}/"):
                self._updated(each)

    async def keep(self) -> None:
        """Have the server know what is followed, until cancelled."""
        pauses = backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._watch()
            except RpcError as error:  # it would refuse the same again
                self._log.warning("resources_not_followed", reason=error.message)
            except Exception as error:
                if not isinstance(error, WireError | ToolFailed | TimeoutError):
                    self._log.exception("resources_not_followed")
                await asyncio.sleep(next(pauses))
                self._wake.set()
                continue
            pauses = backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)

    async def _watch(self) -> None:
        connection, before = await self._connect(), self._watched
        offers = connection.server.capabilities.get("resources")
        if not isinstance(offers, dict) or offers.get("subscribe") is not True:
            return
        self._watched = connection
        try:
            await connection.watch(self._uris)
        finally:
            if before not in (None, connection):
                self.missed()
