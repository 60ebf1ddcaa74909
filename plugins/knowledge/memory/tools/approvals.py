"""The tools over requests that wait for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Listing, Page, Tier, Tool
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.store.approvals import Approval, State
from plugins.knowledge.memory.tools.annotations import DECIDES, READ_ONLY
from plugins.knowledge.memory.tools.waiting import (
    WaitingWrite,
    brief,
    waiting_writes,
    with_names,
)
from plugins.knowledge.memory.write.approvals import place

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory

PENDING_NOTE = (
    "It is not done yet: a person who may approve it has to say yes, on the portal's page "
    "/approvals; list_approvals shows what waits. Tell your person so; do not write it again."
)
"""What a tool says of a write that waits."""


class WhichRequests(BaseModel):
    """What `list_approvals` takes."""

    model_config = ConfigDict(extra="forbid")

    state: State = Field("pending", description="Those that wait, or what became of your own.")
    id: str | None = Field(None, description="Only this request, of whatever state, and whole.")


PAGE = Page(size=50, summarize=brief, item=WaitingWrite, full_below=2)


def approval_tools(memory: Memory) -> list[Tool]:
    """The tools, in the order in which a model should consider them."""

    async def listed(asked: WhichRequests, caller: Caller) -> Listing[Any]:
        if asked.id is None:
            found = await memory.approvals.visible_to(caller, asked.state)
        else:
            found = [await memory.approvals.one(asked.id, caller)]

        async def ready(some: Sequence[Approval]) -> Sequence[WaitingWrite]:
            return await with_names(memory, await waiting_writes(memory, some, caller), caller)

        return Listing(found, key=place, ordered=True, ready=ready)

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
        done = await memory.approvals.decide(id, caller, approve=False, note=note)
        told = await waiting_writes(memory, [done], caller)
        return (await with_names(memory, told, caller))[0]

    return [
        Tool(
            "list_approvals",
            "See which changes to memory wait for a person: yours, and those that your person may "
            "decide; or what became of yours. The newest first.",
            listed,
            args=WhichRequests,
            annotations=READ_ONLY,
            floor=Tier.PUBLIC,
            title="Waiting changes",
            page=PAGE,
        ),
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
    "relate": "say how this entry of memory goes together with an earlier one",
    "verify": "have this verified, and shown to those it is for",
}
"""What each operation is to do."""
_BY_HAND = (
    "Nothing is approved: a yes is a person's, and a token may be an agent's. Your person opens "
    "{page} below the portal's address in a browser where they are signed in, looks at it and "
    "approves it. Tell them so. To reject it takes no page."
)
