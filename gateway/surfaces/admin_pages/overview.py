"""``/admin``: what needs an admin's hand now, and the way to everything else."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.stores import utc_now
from gateway.approvals.approvals import Approvals
from gateway.limits.rate_counter import LimitReached
from gateway.observability.audit_reader import AuditReader
from gateway.surfaces.admin.status import Status
from gateway.surfaces.admin_pages.backlogs import waiting_in_plugins
from gateway.surfaces.admin_pages.door import Door
from gateway.surfaces.admin_pages.health import HealthPage
from gateway.surfaces.pages.approvals_of_plugins import PluginRequests
from gateway.surfaces.pages.visitors import Visitor
from gateway.work.agent_work import AgentWork

LATELY = timedelta(days=1)
"""What the overview looks back on."""
MAX_LIMITED = 5
"""Callers that it names of those whom a limit turned away."""


class OverviewPage:
    """The first page for admins.

    Args:
        door: lets admins in.
        status: says what the portal does.
        health: says what to mend.
        reader: reads the audit log.
        approvals: the requests for a person's yes.
        work: what waits for members' agents.
    """

    def __init__(
        self,
        door: Door,
        status: Status,
        health: HealthPage,
        reader: AuditReader,
        approvals: Approvals,
        work: AgentWork,
    ) -> None:
        self._door, self._status, self._health, self._reader = door, status, health, reader
        self._approvals, self._work = approvals, work
        self._of_plugins = PluginRequests(door.frame)

    def routes(self) -> list[Route]:
        """The page's route."""
        return [self._door.page("/admin", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        since = utc_now() - LATELY
        found, plugins, backlogs, limited, refused = await asyncio.gather(
            self._status.found(),
            self._of_plugins.waiting(visitor),
            waiting_in_plugins(self._door.frame, visitor),
            self._reader.totals(
                "person", {"since": since, "outcome": LimitReached.code}, MAX_LIMITED
            ),
            self._reader.totals("item", {"since": since, "outcome": "not_allowed"}, MAX_LIMITED),
        )
        return self._door.render(
            request,
            visitor,
            "overview.html",
            found=found,
            findings=await self._health.findings(found),
            plugins=plugins,
            backlogs=backlogs,
            limited=limited,
            refused=refused,
            work=await self._work.waiting(),
            waiting=sum(each.state == "waiting" for each in await self._approvals.store.open()),
            since=since,
        )
