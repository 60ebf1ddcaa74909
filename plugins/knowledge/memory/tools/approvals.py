"""The tools over requests that wait for a person."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.store.approvals import Approval
from plugins.knowledge.memory.tools.annotations import DECIDES, READ_ONLY

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

PENDING_NOTE = (
    "It is not done yet: a person who may approve it has to say yes, on the portal's page "
    "/approvals; list_approvals shows what waits. Tell your person so; do not write it again."
)
"""What a tool says of a write that waits."""


class WaitingWrite(BaseModel):
    """A request, as those see it who may decide it, and who made it."""

    id: str
    operation: str = Field(
        description="create, update, delete, erase (for good), verify or relate."
    )
    entry: str = Field(description="The id of the entry.")
    content: str | None = Field(None, description="What the entry is to say.")
    metadata: dict[str, Any] | None = Field(None, description="What is to be said about it.")
    readers: list[str] = Field(
        default_factory=list,
        description="The keys of those who would read it: tier:public is everyone who is signed "
        "in, tier:members all members.",
    )
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
        seen = await memory.approvals.visible_to(caller)
        return WaitingWrites(requests=[waiting_write(each) for each in seen])

    async def decide_approval(
        id: str, approve: bool, note: str | None = None, *, caller: Caller
    ) -> WaitingWrite:
        """Reject a change to memory that somebody else asked for, when your person told you so, or
        take back your own. You approve nothing: asked to, this says where your person does it.

        Args:
            id: The request's id, as `list_approvals` gives it.
            approve: False to reject it.
            note: What to say to who asked.
        """
        if approve:
            raise await where_to_approve(memory, id, caller)
        return waiting_write(await memory.approvals.decide(id, caller, approve=False, note=note))

    return [
        Tool.of(list_approvals, annotations=READ_ONLY, floor=Tier.PUBLIC, title="Waiting changes"),
        Tool.of(decide_approval, annotations=DECIDES, floor=Tier.PUBLIC, title="Decide a change"),
    ]


async def where_to_approve(memory: Memory, id: str, caller: Caller) -> MemoryFailed:
    """The answer to a yes that comes with a token: what holds one may be an agent.

    A person says yes in a browser that is signed in, where ``Offer.pending`` shows them the request
    (:mod:`.pending`). Nothing that a client claims to have asked its person counts for others.

    Args:
        memory: the memory.
        id: the request's.
        caller: who would approve.

    Raises:
        MemoryFailed: there is no such request for the caller, or it is decided.
    """
    await memory.approvals.pending(id, caller)
    page = APPROVAL_PAGE.format(id=id)
    return MemoryFailed(ErrorCode.GOVERNANCE_DENIED, _BY_HAND.format(page=page), {"page": page})


APPROVAL_PAGE = "/approvals/knowledge/{id}"
"""The path, below the portal's address, of the page on which a person decides a request."""
OPERATIONS_IN_WORDS = {
    "create": "keep this in memory",
    "update": "change an entry of memory to this",
    "delete": "remove an entry from memory",
    "erase": "remove an entry from memory for good",
    "relate": "let this entry of memory stand in place of another one",
    "verify": "have this verified, and shown to those it is for",
}
"""What each operation is to do."""
_BY_HAND = (
    "Nothing is approved: a yes is a person's, and a token may be an agent's. Your person opens "
    "{page} below the portal's address in a browser where they are signed in, looks at it and "
    "approves it. Tell them so. To reject it takes no page."
)


def waiting_write(one: Approval) -> WaitingWrite:
    """A request, for those who may see it."""
    payload = one.payload
    entry = {} if payload is None else payload.request.get("entry", {})
    return WaitingWrite(
        id=one.id,
        operation=one.operation,
        entry=one.entry,
        content=entry.get("content"),
        metadata=entry.get("metadata"),
        readers=[] if payload is None else sorted(payload.readers),
        reason=one.reason,
        requested_by=one.requested_by,
        requested_at=one.requested_at,
        state=one.state,
        decided_by=one.decided_by,
        decided_at=one.decided_at,
        note=one.note,
    )
