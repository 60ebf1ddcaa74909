"""The requests of memory as the portal's page ``/approvals`` shows and has them decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gateway.contract import Caller, PendingRequest, PendingRequests
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.tools.approvals import OPERATIONS_IN_WORDS
from plugins.knowledge.memory.tools.waiting import WaitingWrite, waiting_writes, with_names

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

_MAX_TITLE = 60
"""Characters of what an entry says that tell one request from another."""
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
    if "metadata" in dumped:
        dumped["metadata"] = _filled(dumped["metadata"])
    words = OPERATIONS_IN_WORDS[one.operation]
    about = f": “{beginning(one.content, _MAX_TITLE)}”" if one.content else ""
    return PendingRequest(
        id=one.id,
        title=f"{words[0].upper()}{words[1:]}{about}",
        asked_by=one.requested_by,
        asked=one.requested_at,
        shown=_filled(dumped),
        may_approve=caller.admin or one.requested_by != caller.person,
        reason=one.reason or "",
    )


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    """What says something: who decides is shown no empty fields."""
    return {name: each for name, each in values.items() if each not in (None, [], {})}
