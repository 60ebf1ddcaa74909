"""The endpoints by which memory keeps right: relations, verification and the review queue."""

from __future__ import annotations

from functools import partial

from pydantic import Field

from gateway.contract import Caller, Route
from plugins.knowledge.memory.api.rates import READS, WRITES
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.outcomes import Decision
from plugins.knowledge.memory.model.requests import MAX_OFFSET, RelationDraft, Sent
from plugins.knowledge.memory.model.responses import RelationResponse, VerificationResponse
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.query.review import Review


class RelationAsked(Sent):
    """How an entry goes together with an earlier one; the path says which entry."""

    id: str = Field(min_length=1, max_length=200, description="The later entry's id.")
    target: str = Field(min_length=1, max_length=200, description="The earlier entry's id.")
    kind: Decision

    def draft(self) -> RelationDraft:
        """The same, as memory reads it."""
        return RelationDraft(kind=Relation(self.kind), target=self.target)


class VerificationAsked(Sent):
    """That somebody looked whether an entry still holds."""

    id: str = Field(min_length=1, max_length=200, description="The entry's id.")
    against: str | None = Field(
        None, min_length=1, max_length=2000, description="What it was compared with."
    )


class ReviewAsked(Sent):
    """Which page of the review queue is shown."""

    offset: int = Field(
        0, ge=0, le=MAX_OFFSET, description="How many of each kind to skip: an earlier next_offset."
    )


def standing_routes(memory: Memory) -> list[Route]:
    """The endpoints."""

    async def relate(asked: RelationAsked, caller: Caller) -> RelationResponse:
        return await memory.governed.relate(asked.id, asked.draft(), caller)

    async def verify(asked: VerificationAsked, caller: Caller) -> VerificationResponse:
        return await memory.verify(asked.id, caller, asked.against)

    async def review(asked: ReviewAsked, caller: Caller) -> Review:
        return await memory.review(caller, asked.offset)

    write = partial(Route, method="POST", operation="updates", rate=WRITES)
    return [
        Route(
            method="GET",
            path="/review",
            run=review,
            name="review_entries",
            tool="review_memory",
            params=ReviewAsked,
            response=Review,
            summary="What waits for a look: entries at odds, and entries long unverified.",
            operation="lists",
            rate=READS,
        ),
        write(
            path="/{id}/relations",
            run=relate,
            name="relate_entries",
            tool="settle_memory",
            params=RelationAsked,
            response=RelationResponse,
            summary="Say how an entry goes together with an earlier one.",
        ),
        write(
            path="/{id}/verification",
            run=verify,
            name="verify_entry",
            tool="verify_memory",
            params=VerificationAsked,
            response=VerificationResponse,
            summary="Say that an entry still holds.",
        ),
    ]
