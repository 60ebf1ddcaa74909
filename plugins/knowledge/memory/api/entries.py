"""The endpoints that read entries beside the protocol's own: a list, and one."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from pydantic import BaseModel, Field, model_validator

from gateway.contract import Caller, Listing, Route
from plugins.knowledge.memory.api.rates import READS
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.author import AUTHOR_FIELD, AUTHOR_FILTER, Author
from plugins.knowledge.memory.model.entry import KnowledgeEntry, Layer
from plugins.knowledge.memory.model.fields import LastMoment, UtcMoment, check_span
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.record import NOTE_PREFIX
from plugins.knowledge.memory.model.requests import Sent
from plugins.knowledge.memory.model.responses import MetadataResponse, Standing
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

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_span(self.since, self.until, ("since", "until"))
        return self

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


class NoteAsked(Sent):
    """Which note of the knowledge base is read: the two parts of its id behind ``note:``."""

    content_type: str = Field(min_length=1, max_length=100, description="What kind of note it is.")
    note: str = Field(min_length=1, max_length=500, description="Its id within that kind.")
    include_custom: bool = Field(True, description="Whether custom fields are among its metadata.")

    @property
    def id(self) -> str:
        """Its id as answers give it."""
        return f"{NOTE_PREFIX}{self.content_type}/{self.note}"


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
        return await _one(memory, asked.id, caller)

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


def note_routes(memory: Memory) -> list[Route]:
    """The same for notes: the id of one holds a slash, which no variable of a path does."""

    async def one(asked: NoteAsked, caller: Caller) -> EntryResponse:
        return await _one(memory, asked.id, caller)

    async def about(asked: NoteAsked, caller: Caller) -> MetadataResponse:
        return await memory.reader.metadata(asked.id, caller, include_custom=asked.include_custom)

    note = partial(Route, method="GET", params=NoteAsked, rate=READS)
    return [
        note(
            path="/note:{content_type}/{note}",
            run=one,
            name="get_note",
            tool="get_memory",
            response=EntryResponse,
            summary="One note of the knowledge base, by the id that answers give it.",
            operation="reads",
        ),
        note(
            path="/note:{content_type}/{note}/metadata",
            run=about,
            name="get_note_metadata",
            tool="memory_history",
            response=MetadataResponse,
            summary="All of a note but its content.",
            operation="metadata",
        ),
    ]


async def _one(memory: Memory, id: str, caller: Caller) -> EntryResponse:
    record = await memory.reader.entry(id, caller)
    authors = await memory.authors.of([record], caller.person, caller.name)
    standings = await memory.standing.of_each([record], caller_keys(caller))
    return EntryResponse(
        entry=record.entry(),
        layer=record.layer,
        author=authors[record.id],
        standing=standings.get(record.id),
    )
