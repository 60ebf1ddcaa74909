"""How the portal is: every plugin asked at once under a deadline, and the routes that tell.

``/healthz`` says that the process serves, ``/readyz`` whether it can do its work. A stranger
learns one word; details and ``/metrics`` are for loopback and for admins.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.contract import Health
from gateway.contract.backend_errors import is_database_away
from gateway.errors import wire
from gateway.observability.database_watch import WAITS_FOR_DATABASE
from gateway.observability.logs import get_logger, request_id
from gateway.observability.redaction import redactor
from gateway.observability.workers import ALONE, OWN, Workers
from gateway.toolkit.reasons import said_by

if TYPE_CHECKING:
    from gateway.observability.metrics import Metrics

__all__ = ["HealthBoard", "PluginHealth", "Report", "health_routes", "is_loopback"]

HEALTH_TIMEOUT_SECONDS = 2.0
"""Seconds a plugin has to say how it is."""

_FORWARDED = frozenset(
    {
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-proto",
        "x-real-ip",
    }
)
_SERVES = ("ok", "degraded")
"""States of a plugin that answers."""
_PRIVATE = {"Cache-Control": "no-store"}
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Status = Literal["ok", "degraded", "starting", "failed", "stopping"]
Ask = Callable[[], Awaitable[Health]]

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PluginHealth:
    """How one plugin is, and whether the portal is ready without it."""

    name: str
    required: bool
    health: Health


@dataclass(frozen=True, slots=True)
class Report:
    """How the portal is.

    Attributes:
        status: ``ok``, ``degraded`` (what all need is away, and something is served without it),
            ``starting``, ``failed`` (a required plugin, or all of them) or ``stopping``.
        plugins: each plugin, in the order they were named.
        notices: what an admin should look at, one sentence each.
        chains: how the logs of chains are followed, by the chain's id.
    """

    status: Status
    plugins: tuple[PluginHealth, ...]
    notices: tuple[str, ...]
    chains: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether the portal can do its work, or what of it needs no database."""
        return self.status in ("ok", "degraded")

    def details(self) -> dict[str, Any]:
        """The report as JSON values, for admins."""
        plugins = {
            plugin.name: {
                "state": plugin.health.state,
                "required": plugin.required,
                "detail": plugin.health.detail,
                "facts": redactor.value(plugin.health.facts),
            }
            for plugin in self.plugins
        }
        report = {"status": self.status, "plugins": plugins, "notices": list(self.notices)}
        return report | ({"chains": dict(self.chains)} if self.chains else {})


class HealthBoard:
    """Knows every plugin and asks each how it is.

    Args:
        deadline: seconds a plugin has to answer.

    Attributes:
        last: the last report, or None before the first.
    """

    def __init__(self, deadline: float = HEALTH_TIMEOUT_SECONDS) -> None:
        self.last: Report | None = None
        self._deadline = deadline
        self._required: dict[str, bool] = {}
        self._fixed: dict[str, Health] = {}
        self._ask: dict[str, Ask] = {}
        self._asking: dict[str, asyncio.Task[Health]] = {}
        self._notices: list[Callable[[], Iterable[str]]] = []
        self._needs: list[Callable[[bool], Awaitable[bool]]] = []
        self._late: set[str] = set()
        self._chains: Callable[[], Mapping[str, Any]] = dict
        self._stopping = False
        self._has_been_ready = False
        self._last: dict[str, str] = {}
        self._behind_since: dict[str, float] = {}

    def expect(self, name: str, required: bool) -> None:
        """Name a plugin that is about to open; it is ``starting`` until more is said."""
        self._required[name] = required
        self._fixed[name] = Health("starting", "It is being opened.")

    def opened(self, name: str, ask: Ask) -> None:
        """Say that an expected plugin is open, and how to ask for its health."""
        self._fixed.pop(name, None)
        self._late.discard(name)
        self._ask[name] = ask

    def failed(self, name: str, reason: str) -> None:
        """Say that an expected plugin could not be opened, and why."""
        self._ask.pop(name, None)
        self._late.discard(name)
        self._fixed[name] = Health("failed", redactor.text(reason))

    def late(self, name: str, reason: str) -> None:
        """Say that an expected plugin is not open yet, why, and that it will be once it can."""
        self.failed(name, f"{reason.rstrip('.')}. It is served as soon as it has opened.")
        self._late.add(name)

    @property
    def opening(self) -> frozenset[str]:
        """The plugins that are not open yet, and may be still."""
        starting = {name for name, fixed in self._fixed.items() if fixed.state == "starting"}
        return frozenset(self._late | starting)

    def unopened(self, name: str) -> Health | None:
        """How a plugin is that is not open; None where it is, or is switched off."""
        return self._fixed.get(name)

    def notices(self, source: Callable[[], Iterable[str]]) -> None:
        """Add a source of sentences for the admin: items set aside, problems in tiers.yaml."""
        self._notices.append(source)

    def chains(self, source: Callable[[], Mapping[str, Any]]) -> None:
        """Say where to learn how chains are followed, as JSON values by the chain's id."""
        self._chains = source

    def needs(self, there: Callable[[bool], Awaitable[bool]]) -> None:
        """Add something without which the portal does less, such as its database.

        All replicas lose it at once. So the portal stays ready for what it can still do.

        Args:
            there: says whether it is there, within the deadline and without raising; with True it
                relies on no answer from before.
        """
        self._needs.append(there)

    def stop(self) -> None:
        """Say that the portal is shutting down, so that no one sends new work."""
        self._stopping = True

    async def report(self) -> Report:
        """Ask every plugin at once and sum up; takes the deadline at most."""
        names = tuple(self._required)
        there, found = await asyncio.gather(
            asyncio.gather(*(need(False) for need in self._needs)),
            asyncio.gather(*(self._one(name) for name in names)),
        )
        if any(health.detail == WAITS_FOR_DATABASE for health in found):
            # A plugin has heard of it before it was asked again itself.
            there = await asyncio.gather(*(need(True) for need in self._needs))
        plugins = tuple(
            PluginHealth(name, self._required[name], health)
            for name, health in zip(names, found, strict=True)
        )
        notices = tuple(
            redactor.text(sentence) for source in self._notices for sentence in source()
        )
        self._log_changes(plugins)
        self._note_behind(plugins)
        self.last = Report(self._status(plugins, all(there)), plugins, notices, self._chains())
        self._has_been_ready |= self.last.ready
        return self.last

    def behind(self) -> dict[str, float]:
        """For how many seconds what each plugin serves has been known to be out of date."""
        now = time.monotonic()
        return {name: now - self._behind_since.get(name, now) for name in self._ask}

    def _note_behind(self, plugins: tuple[PluginHealth, ...]) -> None:
        for plugin in plugins:
            if plugin.health.behind:
                self._behind_since.setdefault(plugin.name, time.monotonic())
            else:
                self._behind_since.pop(plugin.name, None)

    def _log_changes(self, plugins: tuple[PluginHealth, ...]) -> None:
        """Log a plugin's state when it changes, not at every question."""
        for plugin in plugins:
            now = plugin.health
            if self._last.get(plugin.name) != now.state:
                self._last[plugin.name] = now.state
                level = logging.INFO if now.state in ("ok", "starting") else logging.WARNING
                log.log(
                    level,
                    "plugin_health",
                    plugin=plugin.name,
                    state=now.state,
                    detail=now.detail,
                )

    def _status(self, plugins: tuple[PluginHealth, ...], there: bool) -> Status:
        if self._stopping:
            return "stopping"
        starting = any(p.health.state == "starting" for p in plugins)
        # Who has begun serves on without the database. Who begins has nobody to lose by waiting,
        # and the database may be busy with what its plugins begin with.
        if not there and (self._has_been_ready or not starting):
            return "degraded" if any(p.health.state in _SERVES for p in plugins) else "failed"
        if any(p.required and p.health.state == "failed" for p in plugins):
            return "failed"
        if starting:
            return "starting"
        return "ok"

    async def _one(self, name: str) -> Health:
        if (fixed := self._fixed.get(name)) is not None:
            return fixed
        task = self._asking.get(name)
        if task is None:
            task = self._asking[name] = asyncio.create_task(_check(name, self._ask[name]))
            task.add_done_callback(lambda _: self._asking.pop(name, None))
        # A late answer is cancelled but not awaited: one that ignores that holds up no one.
        await asyncio.wait([task], timeout=self._deadline)
        if task.done() and not task.cancelled():
            return task.result()
        task.cancel()
        return Health("failed", f"It did not say how it is within {self._deadline:g} s.")


async def _check(name: str, ask: Ask) -> Health:
    try:
        health = await ask()
        if not isinstance(health, Health):
            raise TypeError(f"health() returned {type(health).__name__} instead of Health")
    except Exception as error:
        log.debug("plugin_health_raised", plugin=name, exc_info=True)
        if is_database_away(error):
            return Health("failed", WAITS_FOR_DATABASE)
        return Health("failed", redactor.text(said_by(error)))
    return replace(health, detail=redactor.text(health.detail))


def health_routes(
    board: HealthBoard,
    metrics: Metrics,
    may_see: Callable[[Request], bool],
    workers: Workers = ALONE,
) -> list[Route]:
    """The routes ``/healthz``, ``/readyz`` and ``/metrics``.

    Args:
        board: what ``/readyz`` reports.
        metrics: what ``/metrics`` renders.
        may_see: says whether a request may see details: from loopback, or an admin's.
        workers: the other processes on this port, whose figures ``/metrics`` has too.
    """

    async def healthz(_request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers=_PRIVATE)

    async def readyz(request: Request) -> Response:
        report = await board.report()
        body = report.details() if may_see(request) else {"status": report.status}
        return JSONResponse(body, 200 if report.ready else 503, headers=_PRIVATE)

    async def render_metrics(request: Request) -> Response:
        if not may_see(request):
            return _forbidden()
        report = await board.report()
        metrics.plugin_health({p.name: p.health.state for p in report.plugins})
        await metrics.refresh()
        text = await asyncio.to_thread(metrics.render)
        if workers.number and OWN not in request.query_params:
            text = await workers.metrics(text)
        return Response(text, headers=_PRIVATE, media_type=_METRICS_TYPE)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", render_metrics),
    ]


def is_loopback(request: Request) -> bool:
    """Whether the request came from this very machine, with no proxy in between.

    The peer's address must be a loopback one, the Host must name loopback too (a page in a
    browser may have pointed its own name here), and no header may tell of a proxy.
    """
    if request.client is None or not _FORWARDED.isdisjoint(request.headers.keys()):
        return False
    host = request.url.hostname or ""
    return _is_loopback_name(request.client.host) and (
        host == "localhost" or _is_loopback_name(host)
    )


def _is_loopback_name(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _forbidden() -> Response:
    message = (
        "Metrics are for admins, and for programs on the portal's own machine. Ask from "
        "loopback, or send an admin's token."
    )
    return JSONResponse(wire("forbidden", message, {}, request_id.get() or ""), 403, _PRIVATE)
