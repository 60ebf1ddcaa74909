"""All configured servers, each kept fresh in a task of its own; those of another file take over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gateway.toolkit.background import background, cancel
from plugins.upstreams.config import Server as ServerConfig
from plugins.upstreams.config import UpstreamsConfig
from plugins.upstreams.servers.server import Server
from plugins.upstreams.store.store import Store

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

Make = Callable[[ServerConfig], Server]
"""Makes a server of its configuration, without asking it."""


class Servers:
    """The servers of ``portal.yaml``, in its order.

    Args:
        store: knows what each offered last.
        make: makes a server.
        log: tells of what fails.
    """

    def __init__(self, store: Store, make: Make, log: FilteringBoundLogger) -> None:
        self._store = store
        self._make = make
        self._log = log
        self._servers: dict[str, Server] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[Server]:
        return iter(list(self._servers.values()))

    def get(self, name: str) -> Server | None:
        """The server of that name."""
        return self._servers.get(name)

    async def configure(self, config: UpstreamsConfig) -> None:
        """Have these servers from now on: those that stay as they are notice nothing.

        Args:
            config: the plugin's section.
        """
        wanted = {each.name: each for each in config.servers}
        over = [name for name, server in self._servers.items() if wanted.get(name) != server.config]
        await self._end(over)
        new = [each for name, each in wanted.items() if name not in self._servers]
        kept = await self._store.kept() if new else {}
        made = {each.name: self._make(each) for each in new}
        for name, server in made.items():
            await server.offered.recall(kept.get(name))
        everyone = {**self._servers, **made}
        self._servers = {name: everyone[name] for name in wanted}
        for name, server in made.items():
            self._tasks[name] = asyncio.create_task(_kept(server), name=f"upstream {name}")

    async def close(self) -> None:
        """End all tasks and close all connections."""
        await self._end(list(self._servers))

    async def _end(self, names: Sequence[str]) -> None:
        servers = [self._servers.pop(name) for name in names]
        try:
            await cancel(*(self._tasks.pop(name) for name in names))
        except Exception:
            self._log.exception("server_watch_failed")
        for each in await asyncio.gather(*(s.close() for s in servers), return_exceptions=True):
            if isinstance(each, Exception):
                self._log.error("server_not_closed", exc_info=each)


async def _kept(server: Server) -> None:
    """Keep a server's catalogue and its subscription, until cancelled."""
    async with background(server.following.keep()):
        await server.keep_fresh()
