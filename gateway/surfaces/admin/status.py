"""``GET /admin/status``: what the portal does now, on one screen of ``porch status``."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any, Protocol

from starlette.requests import Request

from gateway.observability.recent_events import LATELY
from gateway.observability.redaction import redactor
from gateway.observability.workers import OWN
from gateway.open_portal import OpenPortal
from gateway.surfaces.admin.worker_status import of_all

SERVICE_TIMEOUT_SECONDS = 2.0
"""Seconds that a service has to answer."""


class Streams(Protocol):
    """The streams that are open."""

    @property
    def by_surface(self) -> Mapping[tuple[str, ...], int]:
        """How many there are of each surface."""
        ...


class Status:
    """Says what a portal does.

    Args:
        running: the open portal.
        streams: its open streams.
        sessions: says how many legacy sessions it holds.
    """

    def __init__(self, running: OpenPortal, streams: Streams, sessions: Callable[[], int]) -> None:
        self._running = running
        self._streams = streams
        self._sessions = sessions
        self._began = time.monotonic()

    async def answer(self, request: Request) -> Any:
        """Answer the request, for all workers where there are several."""
        return await self.found(alone=OWN in request.query_params)

    async def found(self, *, alone: bool = False) -> dict[str, Any]:
        """What the portal does; of this worker alone, or of all where there are several."""
        own, workers = await self._own(), self._running.workers
        return own if alone or not workers.number else await of_all(own, workers)

    async def _own(self) -> dict[str, Any]:
        running = self._running
        report, services, jobs = await asyncio.gather(
            running.board.report(), self._services(), self._jobs()
        )
        behind = running.board.behind()
        plugins = [
            {
                "name": each.name,
                "state": each.health.state,
                "detail": each.health.detail,
                "required": each.required,
                "behind_seconds": round(behind.get(each.name, 0.0)),
                "advice": str(each.health.facts.get("advice", "")),
            }
            for each in report.plugins
        ]
        return {
            "name": running.portal.config.name,
            "url": running.portal.config.url,
            "version": version("porch"),
            "process": os.getpid(),
            "uptime_seconds": round(time.monotonic() - self._began),
            "status": report.status,
            "plugins": plugins,
            "services": services,
            "jobs": jobs,
            "replicas": list(running.services.jobs.replicas),
            "streams": {kind: number for (kind,), number in self._streams.by_surface.items()}
            | {"sessions": self._sessions()},
            "calls": self._calls(),
            "notices": list(report.notices),
            "lately": LATELY.told(),
        }

    def _calls(self) -> dict[str, Any]:
        recent = self._running.last_minute.recent()
        calls = recent.outcomes.total()
        return {
            "seconds": round(recent.seconds, 1),
            "calls": calls,
            "per_second": round(calls / recent.seconds, 2) if recent.seconds else 0.0,
            "mean_milliseconds": round(1000 * recent.calls_seconds / calls, 1) if calls else 0.0,
            "at_once": self._running.metrics.in_flight,
            "loop_lag_milliseconds": round(1000 * self._running.last_minute.lag.worst_seconds),
            "outcomes": dict(recent.outcomes.most_common()),
        }

    async def _services(self) -> list[dict[str, Any]]:
        config, services = self._running.portal.config.services, self._running.services
        held = services.database.connections
        used = f"{held['used']} of {held['most']} connections in use"
        database, cache, vectors = await asyncio.gather(
            _state(self._database),
            _state(services.cache.ready),
            _state(services.vectors.ready),
        )
        found = [
            _service("database", config.database, database or used, bool(database)),
            _service("cache", config.cache, cache, bool(cache)),
            _service("vectors", config.vectors, vectors, bool(vectors)),
        ]
        for name, model in (("embedding", services.embedder), ("reranker", services.reranker)):
            detail = "not in use"
            if model is not None:
                usage = model.usage
                detail = f"{model.waiting} waiting, {usage.texts} texts in {usage.seconds:.1f} s"
            found.append(_service(name, getattr(config, name), detail, away=False))
        return found

    async def _database(self) -> None:
        from sqlalchemy import text

        async with self._running.services.shared_database.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def _jobs(self) -> list[dict[str, Any]]:
        tally = self._running.services.jobs.tally
        problem = await _state(tally.refresh)
        names = {name for name, _ in (*tally.open, *tally.ended)}
        found: list[dict[str, Any]] = []
        for name in sorted(names):
            states = {state: each for (job, state), each in tally.open.items() if job == name}
            found.append(
                {
                    "name": name,
                    **{state: each.number for state, each in states.items()},
                    "oldest_seconds": round(
                        max((each.oldest_seconds for each in states.values()), default=0.0)
                    ),
                    "ended": {
                        outcome: number
                        for (job, outcome), number in tally.ended.items()
                        if job == name
                    },
                }
            )
        return [{"name": "", "problem": problem}] if problem else found


def _service(name: str, address: str, detail: str, away: bool) -> dict[str, Any]:
    state = "away" if away else "ok"
    return {"name": name, "address": redactor.text(address), "state": state, "detail": detail}


async def _state(ask: Callable[[], Awaitable[object]]) -> str:
    """Why a service does not answer; nothing where it does."""
    asking = asyncio.ensure_future(ask())
    await asyncio.wait({asking}, timeout=SERVICE_TIMEOUT_SECONDS)
    if not asking.done():
        asking.cancel()  # and not waited for: a dead connection may not let itself be given up
        return f"no answer within {SERVICE_TIMEOUT_SECONDS:g} s"
    if asking.cancelled() or (error := asking.exception()) is None:
        return ""
    return redactor.text(str(error).partition("\n")[0] or type(error).__name__)
