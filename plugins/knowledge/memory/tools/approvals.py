"""The tools over requests that wait for a person."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.store.approvals import Approval
from plugins.knowledge.memory.tools.annotations import DECIDES, READ_ONLY
from plugins.knowledge.memory.write.consent import Answer, NeedsAnswer, consent_through, excerpt

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

PENDING_NOTE = (
    "It is not done yet: a person who may approve it has to say yes. They see it with "
    "list_approvals and answer with decide_approval. Tell your person so; do not write it again."
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
        """Approve a change to memory that somebody else asked for, or reject it, when your person
        told you so. To approve, they are asked in their client. You can reject your own to take
        it back.

        Args:
            id: The request's id, as `list_approvals` gives it.
            approve: Whether it is to be done.
            note: What to say to who asked.
        """
        if approve:
            try:
                await _check_agreed(memory, id, caller)
            except NeedsAnswer as needs:
                return cast("WaitingWrite", needs.result)  # the gateway passes it on
        return waiting_write(await memory.approvals.decide(id, caller, approve=approve, note=note))

    return [
        Tool.of(list_approvals, annotations=READ_ONLY, floor=Tier.PUBLIC, title="Waiting changes"),
        Tool.of(decide_approval, annotations=DECIDES, floor=Tier.PUBLIC, title="Decide a change"),
    ]


async def _check_agreed(memory: Memory, id: str, caller: Caller) -> None:
    """Ask the person whether they approve: an agent alone never does.

    Raises:
        MemoryFailed: there is nothing to decide, they say no, or their client cannot ask them.
        NeedsAnswer: the client has to come again with the answer.
    """
    request = waiting_write(await memory.approvals.pending(id, caller))
    question = (
        f"Approve this? {request.requested_by} asks to {_OPERATIONS_IN_WORDS[request.operation]}"
    )
    if request.content is not None:
        question += f":\n\n{excerpt(request.content)}"
    if request.reason is not None:
        question += f"\n\nThe reason given: {request.reason}"
    consent = consent_through(memory.exchange())
    answer = await consent(question, f"{caller.person}\ndecide {id}")
    if answer is Answer.REFUSED:
        message = "Your person said no. The request waits on: reject it, if they say so."
        raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, message)
    if answer is Answer.NONE:
        raise MemoryFailed(ErrorCode.GOVERNANCE_DENIED, _BY_HAND.format(id=id))


_OPERATIONS_IN_WORDS = {
    "create": "keep this in memory",
    "update": "change an entry of memory to this",
    "delete": "remove an entry from memory",
    "erase": "remove an entry from memory for good",
    "relate": "let this entry of memory stand in place of another one",
    "verify": "have this verified, and shown to those it is for",
}
_BY_HAND = (
    "Your client cannot ask your person, and you cannot approve in their place. They do it "
    "themselves: in a client that shows forms, or with POST "
    "/openspec/v1/knowledge/approvals/{id}/approve and a token of their own. Tell them so."
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
