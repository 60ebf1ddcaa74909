"""Legacy clients hear when a call begins to wait for the yes of their person.

Each replica tells the sessions that it holds, and only those of people who may decide: with
``notifications/message``, at the level that the client has set. MCP 2026-07-28 has no stream on
which a server speaks of such a thing unasked, so its clients hear of it on the portal's pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from auth.callers import Identity
from auth.sealer import Sealer
from gateway.contract import Cache
from gateway.observability.logs import get_logger
from gateway.surfaces.mcp.change_log import message
from gateway.surfaces.mcp.relay import opened
from gateway.surfaces.mcp.request import LEVELS
from gateway.surfaces.mcp.sessions import Session
from gateway.toolkit.visible_text import visible

if TYPE_CHECKING:
    from gateway.approvals.approvals import Approvals
    from gateway.approvals.request import ApprovalRequest

LEVEL = "notice"
MAX_PEOPLE = 1000
"""People that one replica asks itself about for one request; the rest see it on the pages."""
LIFETIME_SECONDS = 600.0
"""Seconds for which what replicas tell each other is believed."""
_CHANNEL = "mcp-approvals"

log = get_logger(__name__)


class ApprovalNews:
    """Tells clients of calls that wait.

    Args:
        key: seals what replicas tell each other; the same on all of them.
        cache: carries it.
        sessions: the legacy sessions that this process holds, by their ids.
        approvals: the requests, and who may decide them.
    """

    def __init__(
        self, key: bytes, cache: Cache, sessions: Mapping[str, Session], approvals: Approvals
    ) -> None:
        self._sealer = Sealer(key, _CHANNEL)
        self._cache = cache
        self._sessions = sessions
        self._approvals = approvals
        self._telling: set[asyncio.Task[None]] = set()

    def asked(self, request: ApprovalRequest, page: str) -> None:
        """Have all replicas tell of a request that has just begun to wait; returns at once.

        Args:
            request: the request.
            page: the address of its page.
        """
        if request.own:  # whoever calls is told by the answer
            return
        sealed = self._sealer.seal({"id": request.id, "page": page}, LIFETIME_SECONDS, _CHANNEL)
        task = asyncio.get_running_loop().create_task(
            self._cache.publish(_CHANNEL, sealed.encode())
        )
        self._telling.add(task)
        task.add_done_callback(self._told)

    async def listen(self) -> None:
        """Hear what waits here and at other replicas, until cancelled."""
        async with self._cache.listen(_CHANNEL) as messages:
            async for told in opened(self._sealer, _CHANNEL, messages):
                try:
                    await self._tell(told["id"], told["page"])
                except Exception as error:  # such as: the database is away
                    log.warning("approval_not_told", reason=type(error).__name__)

    async def _tell(self, id: str, page: str) -> None:
        hearing: dict[str, list[Session]] = {}
        for session in list(self._sessions.values()):
            if session.person and session.follows and _hears(session):
                hearing.setdefault(session.person, []).append(session)
        request = await self._approvals.store.get(id) if hearing else None
        if request is None or request.state != "waiting":
            return
        said = message("notifications/message", _said(request, page))
        for person in list(hearing)[:MAX_PEOPLE]:
            if await self._may_decide(person, request):
                for session in hearing[person]:
                    session.tell(said)

    async def _may_decide(self, person: str, request: ApprovalRequest) -> bool:
        known = await self._approvals.people.get(person)
        if known is None:
            return False
        identity = Identity(
            person=person, provider="session", name=known.name, accounts=known.accounts
        )
        return await self._approvals.deciders.seen_by(identity).may_decide(request)

    def _told(self, task: asyncio.Task[None]) -> None:
        self._telling.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("approval_not_passed_on", reason=str(error))


def _hears(session: Session) -> bool:
    return LEVELS.index(LEVEL) >= LEVELS.index(session.log_level)


def _said(request: ApprovalRequest, page: str) -> dict[str, Any]:
    """It names no argument: an agent may read it, whose person decides."""
    text = (
        f"A call of {visible(request.name)} waits for a person's yes, and your person may give it, "
        f"in a browser: {page}"
    )
    return {"level": LEVEL, "logger": "approvals", "data": {"message": text, "page": page}}
