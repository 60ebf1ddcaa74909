"""The requests of memory as the portal's page ``/approvals`` shows and has them decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gateway.contract import Caller, PendingRequest, PendingRequests
from plugins.knowledge.memory.tools.approvals import OPERATIONS_IN_WORDS
from plugins.knowledge.memory.tools.waiting import WaitingWrite, waiting_writes, with_names

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

_SHOWN = {"entry", "content", "metadata", "ends", "beside", "readers"}


def pending_requests(memory: Memory) -> PendingRequests:
    """What waits in memory for a person, and how they decide it."""

    async def of(caller: Caller) -> Sequence[PendingRequest]:
        waiting = await memory.approvals.visible_to(caller, "pending")
        told = await waiting_writes(memory, waiting[::-1], caller)
        named = await with_names(memory, told, caller)
        return [_pending(*each, caller) for each in zip(told, named, strict=True)]

    async def decide(id: str, caller: Caller, approve: bool, note: str) -> None:
        await memory.approvals.decide(id, caller, approve=approve, note=note or None)

    return PendingRequests(of, decide)


def _pending(one: WaitingWrite, named: WaitingWrite, caller: Caller) -> PendingRequest:
    dumped = named.model_dump(mode="json", include=_SHOWN, exclude_none=True)
    written = {name: value for name, value in dumped.items() if value != []}
    words = OPERATIONS_IN_WORDS[one.operation]
    return PendingRequest(
        id=one.id,
        title=f"{words[0].upper()}{words[1:]}",
        asked_by=one.requested_by,
        asked=one.requested_at,
        shown=written,
        may_approve=caller.admin or one.requested_by != caller.person,
        reason=one.reason or "",
    )
