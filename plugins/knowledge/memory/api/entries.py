"""The endpoints that read entries beside the protocol's own: a list, and one."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from gateway.contract import Caller, Listing, Route
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.author import AUTHOR_FIELD, Author
from plugins.knowledge.memory.model.entry import KnowledgeEntry, Layer
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.requests import QUERIES_PER_MINUTE, RelationDraft, Sent
from plugins.knowledge.memory.model.responses import RelationResponse, VerificationResponse
from plugins.knowledge.memory.model.validity import Relation
from plugins.knowledge.memory.query.lists import ListFilters, ZonedMoment
from plugins.knowledge.memory.query.review import Review
from plugins.knowledge.memory.tools.recall import PAGE, list_entries

_WRITES = "300 in 60s"
_RATE = f"{QUERIES_PER_MINUTE} in 60s"


class EntriesAsked(Sent):
    """Which entries are listed."""

    mine: bool = Field(False, description="Only your own.")
    layer: Layer | None = Field(None, description="Only of this layer.")
    tag: str | None = Field(None, min_length=1, max_length=500, description="Only with this tag.")
    author: str | None = Field(
        None, min_length=1, max_length=200, description="That name this author themselves."
    )
    agent_id: str | None = Field(
        None, min_length=1, max_length=200, description="Written by this agent."
    )
    policy: AccessPolicy | None = Field(None, description="Under this access policy.")
    since: ZonedMoment | None = Field(None, description="Created then or later, with a zone.")
    until: ZonedMoment | None = Field(None, description="Created then or earlier, with a zone.")

    def filters(self) -> ListFilters:
        """The same, as memory reads it."""
        return ListFilters(
            mine=self.mine,
            layers=() if self.layer is None else (self.layer,),
            tags=() if self.tag is None else (self.tag,),
            author=self.author,
            agent_id=self.agent_id,
            policy=self.policy,
            since=self.since,
            until=self.until,
        )


class EntryAsked(Sent):
    """Which entry is read."""

    id: str = Field(min_length=1, max_length=200, description="The entry's id.")


class EntryResponse(BaseModel):
    """One entry, all of it."""

    entry: KnowledgeEntry
    layer: Layer = Field(description="Where it is.")
    author: Author = Field(description=AUTHOR_FIELD)


class RelationAsked(Sent):
    """How an entry goes together with an earlier one; the path says which entry."""

    id: str = Field(min_length=1, max_length=200, description="The later entry's id.")
    target: str = Field(min_length=1, max_length=200, description="The earlier entry's id.")
    kind: Literal["supersedes", "corrects", "contests", "both_hold", "apart"]

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
    """What the review queue takes: nothing."""


def standing_routes(memory: Memory) -> list[Route]:
    """The endpoints by which memory keeps right."""

    async def relate(asked: RelationAsked, caller: Caller) -> RelationResponse:
        return await memory.governed.relate(asked.id, asked.draft(), caller)

    async def verify(asked: VerificationAsked, caller: Caller) -> VerificationResponse:
        return await memory.verify(asked.id, caller, asked.against)

    async def review(asked: ReviewAsked, caller: Caller) -> Review:
        return await memory.review(caller)

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
            rate=_RATE,
        ),
        Route(
            method="POST",
            path="/{id}/relations",
            run=relate,
            name="relate_entries",
            tool="settle_memory",
            params=RelationAsked,
            response=RelationResponse,
            summary="Say how an entry goes together with an earlier one.",
            operation="updates",
            rate=_WRITES,
        ),
        Route(
            method="POST",
            path="/{id}/verification",
            run=verify,
            name="verify_entry",
            tool="verify_memory",
            params=VerificationAsked,
            response=VerificationResponse,
            summary="Say that an entry still holds.",
            operation="updates",
            rate=_WRITES,
        ),
    ]


def entry_routes(memory: Memory) -> list[Route]:
    """The endpoints."""

    async def entries(asked: EntriesAsked, caller: Caller) -> Listing[Any]:
        return await list_entries(memory, asked.filters(), caller)

    async def one(asked: EntryAsked, caller: Caller) -> EntryResponse:
        record = await memory.reader.entry(asked.id, caller)
        authors = await memory.authors.of([record], caller.person)
        return EntryResponse(entry=record.entry(), layer=record.layer, author=authors[record.id])

    return [
        Route(
            method="GET",
            path="/entries",
            run=entries,
            name="list_entries",
            tool="list_memory",
            params=EntriesAsked,
            response=PAGE.result,
            summary="What is remembered, the newest first, in brief.",
            operation="lists",
            rate=_RATE,
        ),
        Route(
            method="GET",
            path="/{id}",
            run=one,
            name="get_entry",
            tool="get_memory",
            params=EntryAsked,
            response=EntryResponse,
            summary="One entry.",
            operation="reads",
            rate=_RATE,
        ),
    ]
