"""``/admin/health``: how everything is just now, and what to do about what is not well."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.stores import utc_now
from gateway.observability.diagnosis import Finding, of_disk, of_portal
from gateway.observability.redaction import redactor
from gateway.open_portal import OpenPortal
from gateway.surfaces.admin.status import Status
from gateway.surfaces.admin_pages.door import Door
from gateway.surfaces.pages.visitors import Visitor

MAX_FACTS_CHARACTERS = 3000
"""Characters that are shown of what a plugin says of itself."""


class HealthPage:
    """The health of the portal.

    Args:
        door: lets admins in.
        running: the open portal.
        status: says what it does.
    """

    def __init__(self, door: Door, running: OpenPortal, status: Status) -> None:
        self._door, self._running, self._status = door, running, status

    def routes(self) -> list[Route]:
        """The page's route."""
        return [self._door.page("/admin/health", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        found = await self._status.found()
        report = self._running.board.last
        return self._door.render(
            request,
            visitor,
            "health.html",
            found=found,
            findings=await self.findings(found),
            facts=_facts({p.name: p.health.facts for p in report.plugins} if report else {}),
            chains=report.chains if report else {},
            sources=self._running.authentication.facts.silent,
            now=utc_now(),
        )

    async def findings(self, found: Mapping[str, Any]) -> list[Finding]:
        """What to mend, the heaviest first."""
        disk = await asyncio.to_thread(lambda: list(of_disk(self._running.services.data_dir)))
        return sorted((*disk, *of_portal(found)), key=lambda each: each.weight)


def _facts(said: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What each plugin says of itself beside its state, as text without secrets."""
    texts = {
        name: json.dumps(redactor.value(facts), indent=1, ensure_ascii=False, default=str)
        for name, facts in said.items()
        if facts
    }
    return {
        name: text if len(text) <= MAX_FACTS_CHARACTERS else f"{text[:MAX_FACTS_CHARACTERS]}\n…"
        for name, text in texts.items()
    }
