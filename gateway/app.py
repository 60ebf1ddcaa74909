"""The portal as one ASGI application: what is open, behind its surfaces."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router

from auth import ANONYMOUS, Caller, StaticTokens
from gateway.assembly import open_portal
from gateway.config.portal import Portal
from gateway.observability.logs import get_logger
from gateway.observability.workers import ALONE, Workers
from gateway.open_portal import OpenPortal
from gateway.surfaces.http.cors import Cors
from gateway.surfaces.http.error_formats import PLAIN, ErrorFormat
from gateway.surfaces.http.errors import plain_page
from gateway.surfaces.http.failures import Failures
from gateway.surfaces.http.http_guard import HttpGuard, RawHeaders
from gateway.surfaces.http.proxies import UnknownProxies
from gateway.surfaces.routing import Surfaces
from gateway.toolkit.background import background

_OPENING_SECONDS = 3.0
"""Seconds for which a request waits for plugins that are opening still."""
_FIRST_CALLS_SECONDS = 2.0
"""Seconds from the last plugin's opening to the one full look of the garbage collector."""
_ANSWERED_AT_ONCE = frozenset({"/healthz", "/readyz", "/metrics", "/admin/status"})

log = get_logger(__name__)


class PortalApp:
    """The portal as one ASGI application.

    Args:
        portal: the configuration.
        data_dir: where the embedded services keep their data.
        tokens: the static tokens.
        modules: plugin modules to use instead of the installed ones (tests).
        workers: the processes on this port, where there are several.

    Attributes:
        running: the open portal, or None before and after.
        router: what answers on each path.
    """

    def __init__(
        self,
        portal: Portal,
        data_dir: Path,
        tokens: StaticTokens | None = None,
        modules: Sequence[Any] | None = None,
        workers: Workers = ALONE,
    ) -> None:
        self._portal = portal
        self._data_dir = data_dir
        self._modules = modules
        self._workers = workers
        self.running: OpenPortal | None = None
        self._surfaces: Surfaces | None = None
        self._opening: asyncio.Event | None = None
        self.router = Router(lifespan=self._lifespan)
        config = portal.config
        self._tokens = tokens
        self._proxies = UnknownProxies(config)
        self._cors = Cors(config.origins)
        self._door = HttpGuard(
            Failures(self._served, self._error_page, self._dialect),
            self._who_calls,
            config.site,
            config.hosts,
            self._cors,
            self._dialect,
            self._takes_bearer,
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection."""
        if self._opening is not None and scope.get("path") not in _ANSWERED_AT_ONCE:
            await self.answering()
        self._proxies.look(scope)
        await self._door(scope, receive, send)

    async def _served(self, scope: Any, receive: Any, send: Any) -> None:
        # Most requests are MCP's: they skip the list of routes.
        if self._surfaces is not None and self._surfaces.is_mcp(scope):
            return await self._surfaces.mcp(scope, receive, send)
        scope["app"] = self  # where a path leads nowhere, the router then raises
        return await self.router(scope, receive, send)

    async def answering(self) -> None:
        """Wait until requests are answered: all plugins are open, or have had their time."""
        if self._opening is not None:
            await self._opening.wait()

    def stopping(self) -> None:
        """Say that the portal is about to stop: streams end, calls in flight go on."""
        if self.running:
            self.running.board.stop()
        if self._surfaces:
            self._surfaces.streams.close()

    @asynccontextmanager
    async def opened(
        self, *, wait: bool = True, wait_ready: bool = False, schedules: bool = True
    ) -> AsyncGenerator[OpenPortal]:
        """Open the portal for as long as the block lasts.

        Where the block begins before all plugins are open, requests wait for them, three seconds
        at most; from then on they are answered with what is there.

        Arguments and errors as in :func:`open_portal`.
        """
        async with open_portal(
            self._portal,
            self._data_dir,
            tokens=self._tokens,
            modules=self._modules,
            wait=wait,
            wait_ready=wait_ready,
            schedules=schedules,
        ) as running:
            running = replace(running, workers=self._workers)
            self.running = running
            running.board.notices(self._proxies.notices)
            running.board.notices(self._workers.notices)
            running.authentication.followers.begin(running.tiers.access)
            self._surfaces = Surfaces(running)
            self._serve_routes()
            running.plugins.opened_late = self._serve_routes
            if wait:
                await running.plugins.tried()
                self._collect(schedules)
            else:
                self._opening = asyncio.Event()
            try:
                settling = [] if wait else [self._settle(running, schedules)]
                async with background(*self._surfaces.listening(), *settling):
                    yield running
            finally:
                self.stopping()
                self.running = None

    async def _settle(self, running: OpenPortal, collect: bool) -> None:
        """Answer requests once all plugins are open, or three seconds have passed."""
        with suppress(TimeoutError):
            await asyncio.wait_for(running.plugins.tried(), _OPENING_SECONDS)
        if self._opening is not None:
            self._opening.set()
            self._opening = None
        await running.plugins.tried()
        log.info("portal_open", plugins=sorted(running.plugins.offers))
        if collect:  # a look through all that was loaded takes a while; the first calls go first
            await asyncio.sleep(_FIRST_CALLS_SECONDS)
        self._collect(collect)

    def _collect(self, everything: bool) -> None:
        # What lives from here on is small; what was loaded so far need not be looked at again by
        # every full collection. One command ends before it would have use for the memory.
        if gc.isenabled():  # in a process that has more than a portal, and closes portals
            return
        if everything:
            gc.collect()
        gc.freeze()
        gc.enable()

    def _serve_routes(self) -> None:
        """Answer on the routes of the plugins that are open now."""
        if self._surfaces is not None and self.running is not None:
            self.router.routes[:] = self._surfaces.routes()
            self._cors.cover(self.running.plugins.offers.values())

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> AsyncGenerator[None]:
        # For servers that speak ASGI's lifespan protocol; `porch serve` opens the portal itself.
        async with self.opened():
            yield

    def _error_page(self, request: Request, status: int, title: str, text: str) -> Response:
        page = self._surfaces.error_page if self._surfaces else plain_page
        return page(request, status, title, text)

    async def _who_calls(self, headers: RawHeaders, path: str) -> Caller:
        if self.running is None:  # nothing is served yet, or any more
            return ANONYMOUS
        return await self.running.authentication.authenticator.caller(headers, path)

    def _takes_bearer(self, path: str, token: str) -> bool:
        return self._surfaces is not None and self._surfaces.upstreams.takes(path, token)

    def _dialect(self, path: str) -> ErrorFormat:
        return PLAIN if self._surfaces is None else self._surfaces.dialects(path)
