"""The endpoints that read entries beside the protocol's own: a list, and one."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from gateway.contract import Caller, Listing, Route
from plugins.knowledge.memory.api.rates import READS
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.author import AUTHOR_FIELD, AUTHOR_FILTER, Author
from plugins.knowledge.memory.model.entry import KnowledgeEntry, Layer
from plugins.knowledge.memory.model.fields import LastMoment, UtcMoment
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.requests import Sent
from plugins.knowledge.memory.model.responses import Standing
from plugins.knowledge.memory.query.lists import ListFilters
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.tools.recall import PAGE, list_entries


class EntriesAsked(Sent):
    """Which entries are listed."""

    mine: bool = Field(False, description="Only your own.")
    layer: Layer | None = Field(None, description="Only of this layer.")
    tag: str | None = Field(None, min_length=1, max_length=500, description="Only with this tag.")
    author: str | None = Field(None, min_length=1, max_length=200, description=AUTHOR_FILTER)
    agent_id: str | None = Field(
        None, min_length=1, max_length=200, description="Written by this agent."
    )
    policy: AccessPolicy | None = Field(None, description="Under this access policy.")
    since: UtcMoment | None = Field(None, description="Created then or later.")
    until: LastMoment | None = Field(None, description="Created then or earlier.")

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
    standing: Standing | None = Field(
        None, description="What to know of whether it holds; none where it does."
    )


def entry_routes(memory: Memory) -> list[Route]:
    """The endpoints."""

    async def entries(asked: EntriesAsked, caller: Caller) -> Listing[Any]:
        return await list_entries(memory, asked.filters(), caller)

    async def one(asked: EntryAsked, caller: Caller) -> EntryResponse:
        record = await memory.reader.entry(asked.id, caller)
        authors = await memory.authors.of([record], caller.person)
        standings = await memory.standing.of_each([record], caller_keys(caller))
        return EntryResponse(
            entry=record.entry(),
            layer=record.layer,
            author=authors[record.id],
            standing=standings.get(record.id),
        )

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
            rate=READS,
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
            rate=READS,
        ),
    ]
