"""Assembles the portal: the only file that knows all parts."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pluggy import HookImpl
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth import Authenticator, StaticTokens
from gateway import audit
from gateway.audit import AuditLog
from gateway.catalog import Catalog
from gateway.changes import Changes
from gateway.config import Portal
from gateway.contract import Change
from gateway.door import Door
from gateway.errors import ConfigError, wire
from gateway.health import HealthBoard, health_routes, is_loopback
from gateway.logs import get_logger
from gateway.metrics import Metrics
from gateway.pipeline import Pipeline
from gateway.plugin_host import Found, PluginHost, discover
from gateway.services import Services, open_services
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.endpoint import Endpoint
from gateway.surfaces.mcp.legacy import Legacy
from gateway.surfaces.mcp.methods import Methods
from gateway.surfaces.mcp.modern import Modern
from gateway.surfaces.mcp.sessions import Sessions
from gateway.surfaces.mcp.state import StateSigner
from gateway.surfaces.mcp.subscriptions import Subscriptions
from gateway.surfaces.rest import rest_mount
from gateway.surfaces.visit import Visit, visit_of
from gateway.surfaces.webhooks import webhook_routes
from gateway.tiers_file import TierRulesFile, check_keys

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of an open portal that its surfaces and the command line use."""

    portal: Portal
    catalog: Catalog
    pipeline: Pipeline
    plugins: PluginHost
    board: HealthBoard
    audit: AuditLog
    metrics: Metrics
    changes: Changes
    services: Services
    tiers: TierRulesFile


@asynccontextmanager
async def open_portal(
    portal: Portal,
    data_dir: Path,
    *,
    modules: Sequence[Any] | None = None,
    wait_ready: bool = False,
) -> AsyncGenerator[Running]:
    """Open everything but the surfaces: services, plugins, catalog and pipeline.

    Args:
        portal: the configuration.
        data_dir: where the embedded services keep their data.
        modules: plugin modules to use instead of the installed ones (tests).
        wait_ready: whether plugins should finish their first work before they open.

    Raises:
        ConfigError: ``tiers.yaml`` is wrong, or a service's address is.
    """
    found = discover(modules)
    tiers = TierRulesFile(portal.tiers_file)
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(_services(portal, data_dir))
        running = await _assemble(portal, found, tiers, services)
        await stack.enter_async_context(running.audit.running())
        await stack.enter_async_context(running.changes.carried())
        _signal_plugins(running.changes, found)
        await stack.enter_async_context(
            running.plugins.opened(running.changes.publish, wait_ready=wait_ready)
        )
        await stack.enter_async_context(services.jobs_running())
        await stack.enter_async_context(_tiers_followed(running))
        yield running


@asynccontextmanager
async def _services(portal: Portal, data_dir: Path) -> AsyncGenerator[Services]:
    opening = open_services(portal.config.services, data_dir, root=portal.root)
    async with AsyncExitStack() as stack:
        with _located(portal):
            services = await stack.enter_async_context(opening)
            ready = await services.made_ready(audit.MIGRATIONS)
        yield ready


@contextmanager
def _located(portal: Portal) -> Generator[None]:
    """Name the line in ``portal.yaml`` of what is wrong with a service."""
    try:
        yield
    except ConfigError as error:
        located = [portal.source.problem(tuple(p.key.split(".")), p.reason) for p in error.problems]
        raise ConfigError(located) from None


async def _assemble(
    portal: Portal, found: Found, tiers: TierRulesFile, services: Services
) -> Running:
    config = portal.config
    catalog = Catalog(tiers.current, how_to_rise=_how_to_rise(portal))
    metrics = Metrics(catalog.knows)
    log_of_calls = AuditLog(services.shared_database, config.audit.retention)
    board = HealthBoard()
    board.notices(log_of_calls.notices)
    board.notices(lambda: services.notices)
    board.notices(lambda: [str(each) for each in catalog.set_aside])
    board.notices(lambda: [str(each) for each in tiers.problems])
    board.notices(lambda: _misplaced_keys(tiers, catalog))
    return Running(
        portal=portal,
        catalog=catalog,
        pipeline=Pipeline(log_of_calls, metrics, config.limits.call.total_seconds()),
        plugins=PluginHost(portal, found, services, catalog, board),
        board=board,
        audit=log_of_calls,
        metrics=metrics,
        changes=Changes(services.shared_cache),
        services=services,
        tiers=tiers,
    )


def _misplaced_keys(tiers: TierRulesFile, catalog: Catalog) -> list[str]:
    found = check_keys(tiers.current, catalog.keys(), catalog.plugins())
    return [str(problem) for problem in found.problems]


def _how_to_rise(portal: Portal) -> str:
    return (
        f"Ask an admin of {portal.config.name} for access, and send your token as "
        "`Authorization: Bearer TOKEN`."
    )


def _signal_plugins(changes: Changes, found: Found) -> None:
    # One listener each: what one plugin raises is logged, and the others still hear.
    def tell(hook: HookImpl, change: Change) -> None:
        hook.function(*(change for _ in hook.argnames))

    for hook in found.manager.hook.porch_changed.get_hookimpls():
        changes.listen(partial(tell, hook))


@asynccontextmanager
async def _tiers_followed(running: Running) -> AsyncGenerator[None]:
    """Put a new tiers.yaml in force whenever it is saved, and tell clients of it."""

    def apply(rules: Any) -> None:
        running.catalog.apply(rules)
        for kind in ("tools", "prompts", "resources"):
            running.changes.publish(Change("gateway", kind))

    following = asyncio.create_task(running.tiers.watch(apply))
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait({following})


class PortalApp:
    """The portal as one ASGI application.

    Args:
        portal: the configuration.
        data_dir: where the embedded services keep their data.
        tokens: the static tokens.
        modules: plugin modules to use instead of the installed ones (tests).
    """

    def __init__(
        self,
        portal: Portal,
        data_dir: Path,
        tokens: StaticTokens | None = None,
        modules: Sequence[Any] | None = None,
    ) -> None:
        self._portal = portal
        self._data_dir = data_dir
        self._modules = modules
        self.running: Running | None = None
        self._subscriptions: Subscriptions | None = None
        self._legacy: Legacy | None = None
        self._starlette = Starlette(
            lifespan=self._lifespan,
            exception_handlers={HTTPException: _http_error, Exception: _unexpected},
        )
        config = portal.config
        authenticator = Authenticator([tokens] if tokens else [])
        self._door = Door(self._starlette, authenticator, config.hosts, config.origins)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection."""
        await self._door(scope, receive, send)

    def stopping(self) -> None:
        """Say that the portal is about to stop: streams end, calls in flight go on."""
        if self.running:
            self.running.board.stop()
        if self._subscriptions:
            self._subscriptions.close()

    @asynccontextmanager
    async def opened(self, *, wait_ready: bool = False) -> AsyncGenerator[Running]:
        """Open the portal for as long as the block lasts.

        Arguments and errors as in :func:`open_portal`.
        """
        async with open_portal(
            self._portal, self._data_dir, modules=self._modules, wait_ready=wait_ready
        ) as running:
            self.running = running
            self._starlette.router.routes[:] = self._routes(running)
            # What lives from here on is small; what was loaded so far need not be looked at
            # again by every full collection (see docs/decisions, performance).
            gc.collect()
            gc.freeze()
            log.info("portal_open", plugins=sorted(running.plugins.offers))
            try:
                yield running
            finally:
                self.stopping()
                if self._legacy:
                    await self._legacy.finish(self._portal.config.limits.shutdown.total_seconds())
                self.running = None

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        # For servers that speak ASGI's lifespan protocol; `porch serve` opens the portal itself.
        async with self.opened():
            yield

    def _routes(self, running: Running) -> list[Any]:
        config = self._portal.config
        about = About(config.name, version("porch"), config.url, running.catalog)
        endpoint = self._mcp(running, about)
        offers = running.plugins.offers
        described = {"title": config.name, "version": version("porch"), "url": config.url}
        return [
            Route("/mcp", endpoint=endpoint),
            Route("/mcp/{plugin}", endpoint=endpoint),
            rest_mount(offers, running.catalog, running.pipeline, described),
            *webhook_routes(offers, int(config.limits.body)),
            *health_routes(running.board, running.metrics, self._may_see),
        ]

    def _may_see(self, request: Request) -> bool:
        visit: Visit = visit_of(request.scope)
        if visit.local or visit.caller.admin:
            return True
        # A proxy on the same machine also comes from loopback, so a portal that has another
        # public address or a trusted proxy shows details to admins alone.
        return self._portal.config.is_local and is_loopback(request)

    def _mcp(self, running: Running, about: About) -> Endpoint:
        key = running.services.signing_key()
        sessions = Sessions(key, running.services.shared_cache)
        running.metrics.gauge(
            "mcp_sessions", "Legacy sessions held here.", lambda: len(sessions.live)
        )
        subscriptions = Subscriptions(running.catalog, running.changes, sessions)
        self._subscriptions = subscriptions
        methods = Methods(running.catalog, running.pipeline, about, StateSigner(key))
        self._legacy = Legacy(methods, about, sessions, subscriptions)
        return Endpoint(
            Modern(methods, subscriptions, about.server),
            self._legacy,
            running.catalog,
            int(self._portal.config.limits.body),
        )


async def _http_error(request: Request, error: Any) -> Response:
    visit = visit_of(request.scope)
    words = {404: "not_found", 405: "method_not_allowed"}
    code = words.get(error.status_code, "http_error")
    message = f"{error.detail}: {request.method} {request.url.path}"
    body = wire(code, message, {}, visit.request_id)
    return JSONResponse(body, error.status_code, headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    visit = visit_of(request.scope)
    message = f"Something went wrong here. Tell the admin the request id {visit.request_id}."
    return JSONResponse(wire("internal_error", message, {}, visit.request_id), 500)
