"""The tools by which memory keeps right: decide what replaces what, verify, review."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from mcp_types import InputRequiredResult
from pydantic import BaseModel, Field

from gateway.contract import Caller, Tier, Tool
from plugins.knowledge.memory.model.errors import validate
from plugins.knowledge.memory.model.outcomes import Decision
from plugins.knowledge.memory.model.requests import RelationDraft
from plugins.knowledge.memory.query.review import Review
from plugins.knowledge.memory.tools.annotations import ADDS, CHANGES, READ_ONLY
from plugins.knowledge.memory.tools.approvals import PENDING_NOTE
from plugins.knowledge.memory.write.consent import NeedsAnswer, consent_through

if TYPE_CHECKING:
    from plugins.knowledge.memory.memory import Memory


class Settled(BaseModel):
    """What became of a decision."""

    id: str
    target: str
    decision: str
    status: str
    approval: str | None = Field(None, description="The request that waits for a person.")
    note: str | None = Field(None, description="What has to happen next, and who must act.")


class Verified(BaseModel):
    """That an entry was verified."""

    id: str
    at: datetime
    against: str | None = None


def standing_tools(memory: Memory) -> list[Tool]:
    """The tools, in the order in which a model should consider them."""
    return [
        Tool.of(
            _settle(memory),
            result=Settled,
            annotations=CHANGES,
            floor=Tier.PUBLIC,
            title="Settle a memory",
        ),
        Tool.of(_verify(memory), annotations=ADDS, floor=Tier.PUBLIC, title="Verify a memory"),
        Tool.of(_review(memory), annotations=READ_ONLY, floor=Tier.PUBLIC, title="Review memory"),
    ]


def _settle(memory: Memory) -> Any:
    async def settle_memory(
        id: str, target: str, decision: Decision, *, caller: Caller
    ) -> Settled | InputRequiredResult:
        """Say how an entry goes together with an earlier one that `remember` found near, or that
        is out of date. What you cannot tell, ask your person.

        Args:
            id: The later entry's id.
            target: The earlier entry's id.
            decision: supersedes (it held until now), corrects (it was wrong all along), contests
                (you say so, its owner decides), both_hold, or apart (of something else).
        """
        draft = validate(RelationDraft, {"kind": decision, "target": target})
        try:
            made = await memory.governed.relate(
                id, draft, caller, consent_through(memory.exchange())
            )
        except NeedsAnswer as needs:
            return needs.result
        waiting = made.approval_required
        return Settled(
            id=id,
            target=target,
            decision=decision,
            status=made.status,
            approval=None if waiting is None else waiting.request_id,
            note=None if waiting is None else PENDING_NOTE,
        )

    return settle_memory


def _verify(memory: Memory) -> Any:
    async def verify_memory(id: str, against: str | None = None, *, caller: Caller) -> Verified:
        """Say that an entry still holds, when your person or a source has just confirmed it.

        Args:
            id: The entry's id.
            against: What it was compared with: an address, a person, or a note of the knowledge
                base by its id (`note:pattern/cell`), which is watched for changes from then on.
        """
        made = await memory.verify(id, caller, against)
        return Verified(id=id, at=made.verified.at, against=made.verified.against)

    return verify_memory


def _review(memory: Memory) -> Any:
    async def review_memory(offset: int = 0, *, caller: Caller) -> Review:
        """See what waits for a look: entries that seem to replace others, or are contested, where
        you may decide; yours that nobody has verified for long; documents past their age.

        Args:
            offset: How many of each kind to skip: the next_offset of an earlier answer.
        """
        return await memory.review(caller, max(0, offset))

    return review_memory
