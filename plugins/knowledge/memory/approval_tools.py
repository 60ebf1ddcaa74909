"""The tools over requests that wait for a person."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.store.approvals import Approval

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

WAITS = (
    "It is not done yet: a person who may approve it has to say yes. They see it with "
    "list_approvals and answer with decide_approval. Tell your person so; do not write it again."
)
"""What a tool says of a write that waits."""
_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_DECIDES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


class WaitingWrite(BaseModel):
    """A request, as those see it who may decide it, and who made it."""

    id: str
    operation: str = Field(description="create, update, delete, erase (for good) or verify.")
    entry: str = Field(description="The id of the entry.")
    content: str | None = Field(None, description="What the entry is to say.")
    reason: str | None = None
    requested_by: str
    requested_at: datetime
    state: str = Field(description="pending, approved, rejected, or failed: approved too late.")
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str | None = None


class WaitingWrites(BaseModel):
    """Requests: the caller's own, then those that they may decide, the oldest first."""

    requests: list[WaitingWrite]


def approval_tools(memory: Memory) -> list[Tool]:
    """The tools, in the order in which a model should consider them."""

    async def list_approvals(*, caller: Caller) -> WaitingWrites:
        """See which changes to memory wait for a person: those that you may decide, and what
        became of your own."""
        seen = await memory.govern.seen(caller)
        return WaitingWrites(requests=[shown(each) for each in seen])

    async def decide_approval(
        id: str, approve: bool, note: str | None = None, *, caller: Caller
    ) -> WaitingWrite:
        """Approve a change to memory that somebody else asked for, or reject it. Only when your
        person has seen what it says and told you so. You can reject your own to take it back.

        Args:
            id: The request's id, as `list_approvals` gives it.
            approve: Whether it is to be done.
            note: What to say to who asked.
        """
        return shown(await memory.govern.decide(id, caller, approve=approve, note=note))

    return [
        Tool.of(list_approvals, annotations=_READS, floor=Tier.PUBLIC, title="Waiting changes"),
        Tool.of(decide_approval, annotations=_DECIDES, floor=Tier.PUBLIC, title="Decide a change"),
    ]


def shown(one: Approval) -> WaitingWrite:
    """A request, for those who may see it."""
    payload: Any = one.payload or {}
    return WaitingWrite(
        id=one.id,
        operation=one.operation,
        entry=one.entry,
        content=payload.get("request", {}).get("entry", {}).get("content"),
        reason=one.reason,
        requested_by=one.requested_by,
        requested_at=one.requested_at,
        state=one.state,
        decided_by=one.decided_by,
        decided_at=one.decided_at,
        note=one.note,
    )
