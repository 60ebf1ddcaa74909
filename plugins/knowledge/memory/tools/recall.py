"""The tools that read memory: a question, a list, one entry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, piece
from gateway.toolkit.questions import MAX_QUESTION_CHARACTERS
from plugins.knowledge.memory.algorithms.relevance import FLOOR, MAX_NEAREST
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.author import AUTHOR_FILTER, BY_FIELD
from plugins.knowledge.memory.model.entry import FROM, KnowledgeSource, Layer
from plugins.knowledge.memory.model.errors import validate
from plugins.knowledge.memory.model.fields import LastMoment, UtcMoment
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.record import NOTE_PREFIX, Record, is_generated_id
from plugins.knowledge.memory.model.requests import QueryRequest
from plugins.knowledge.memory.model.responses import QueryResponse, Standing
from plugins.knowledge.memory.query.lists import ListFilters
from plugins.knowledge.memory.query.review import OddPair
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.tools.annotations import READ_ONLY
from plugins.knowledge.memory.tools.authors import check_author
from plugins.knowledge.memory.tools.results import (
    EventAt,
    Listed,
    Memories,
    SaidAt,
    ValidFrom,
    ValidUntil,
    list_item,
    memories,
    said_and_event,
)
from plugins.knowledge.retrieval import foreign_questions
from plugins.knowledge.retrieval.asked_times import AskedTime, asked_time

MAX_PIECE_BYTES = 8_000
"""Bytes of an entry's content in one answer."""
PAGE = Page(size=50, summarize=lambda each: each, item=Listed)


class NamedReader(BaseModel):
    """Somebody whom an entry's policy names."""

    kind: Literal["person", "group"]
    id: str = Field(description="For approved_users or allowed_teams.")
    name: str
    gone: bool = Field(
        False, description="Whether the portal has no such group any more: nobody reads by it."
    )


class LastLook(BaseModel):
    """That somebody looked whether an entry holds."""

    at: datetime
    by: str = Field(description="Who looked.")
    against: str | None = Field(None, description="What they compared it with.")


class WholeMemory(BaseModel):
    """One entry, and a piece of what it says."""

    id: str
    title: str | None = None
    content: str
    offset: int = Field(description="Where the piece begins, in bytes of UTF-8.")
    next_offset: int | None = Field(None, description="Give it as offset for what follows.")
    total: int = Field(description="Bytes of all of it.")
    layer: Layer
    policy: AccessPolicy = Field(description="Who may read it.")
    named: list[NamedReader] | None = Field(
        None, description="Whom the policy names, where it is your own entry."
    )
    tags: list[str] = Field(default_factory=list)
    by: str = Field(description=BY_FIELD)
    source: KnowledgeSource
    mine: bool
    version: int
    created: datetime
    changed: datetime
    standing: Standing | None = Field(
        None, description="What to know of whether it holds; none where it does."
    )
    said_at: SaidAt = None
    event_at: EventAt = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    at_odds: list[OddPair] | None = Field(
        None, description="What it seems to replace or to be replaced by, or is contested with."
    )
    verified: LastLook | None = Field(None, description="Who last looked whether it holds.")
    confidence: float | None = Field(None, description="How sure it is, 0 to 1.")
    importance: float | None = Field(None, description="How much it matters, 0 to 1.")
    turn: str | None = Field(
        None, description="The id of the turn of a conversation whose words it has."
    )
    note: str | None = Field(None, description="What this is not all of.")


def recall_tools(memory: Memory) -> list[Tool]:
    """The tools, in the order in which a model should consider them."""
    return [
        _query(memory),
        Tool.of(_get(memory), annotations=READ_ONLY, floor=Tier.PUBLIC, title="Read a memory"),
        _list(memory),
    ]


class AskedMemory(BaseModel):
    """What `query_memory` takes."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        max_length=MAX_QUESTION_CHARACTERS,
        description="What to look for: a question, a topic or a phrase.",
    )
    layers: list[Layer] = Field(
        default_factory=list,
        description="Only these layers; all but the archive where none is given.",
    )
    tags: list[str] = Field(
        default_factory=list,
        description="Only entries that carry at least one of these tags.",
    )
    limit: int = Field(10, description="How many results at most, 1 to 100.")
    offset: int = Field(
        0, description="How many results to skip: the next_offset of an earlier answer."
    )
    agent_id: str | None = Field(
        None,
        description="Your own name, to see of working, session and episodic memory only what you "
        "wrote under it.",
    )
    mine: bool = Field(False, description="Whether only your own entries count.")
    author: str | None = Field(None, description=AUTHOR_FILTER)
    since: UtcMoment | None = Field(
        None, description="Only what was written, was said or happened then or later."
    )
    until: LastMoment | None = Field(None, description="The same, then or earlier.")
    as_of: LastMoment | None = Field(
        None, description="What held on that day, rather than what holds now."
    )

    def request(self, *, nearest: int) -> QueryRequest:
        """The same, as the protocol writes it.

        Args:
            nearest: how many of those that do not fit are shown apart.
        """
        filters = {
            "tags": self.tags,
            "mine": self.mine,
            "author": self.author,
            "created_after": self.since,
            "created_before": self.until,
            "or_happened": True,
            "as_of": self.as_of,
        }
        request = {
            "query": self.query,
            "filters": filters,
            "options": {"limit": self.limit, "offset": self.offset, "nearest": nearest},
            "layer": {"types": self.layers, "agent_id": self.agent_id},
        }
        return validate(QueryRequest, request)


def told(memory: Memory, asked: QueryRequest, answer: QueryResponse) -> str:
    """What to say of a question, and of notes that are not indexed yet.

    Args:
        memory: the memory.
        asked: the question.
        answer: what was found.
    """
    notes_asked = Layer.ORGANIZATION in answer.metadata.layers_queried
    unfinished = memory.reader.unfinished() if notes_asked else ""
    foreign = foreign_questions.NOTE if memory.query.foreign(asked.query) else ""
    by, time = asked.filters, asked_time(asked.query, memory.entries.clock())
    if (by.created_after, by.created_before, by.as_of) != (None,) * 3:
        time = None
    return " ".join(filter(None, (unfinished, foreign, _of_time(time) if time else "")))


def _of_time(time: AskedTime) -> str:
    begins, ends = (f"{moment:%Y-%m-%d}" for moment in (time.begins, time.ends))
    return (
        f"What held then is asked as_of {ends}; what was written then, since {begins} until {ends}."
    )


def _query(memory: Memory) -> Tool:
    async def run(asked: AskedMemory, caller: Caller) -> Memories:
        # By words alone there is no telling what fits.
        by_words = memory.query.embedder is None
        floor, nearest = (0.0, 0) if by_words else (FLOOR, MAX_NEAREST)
        answer = await memory.query(asked.request(nearest=nearest), caller, floor)
        archived = 0
        if not answer.metadata.total_results:
            if asked.author is not None:
                await check_author(memory, asked.author, caller)
            if not asked.layers:
                archive = asked.request(nearest=0).archived()
                archived = (await memory.query(archive, caller, floor)).metadata.total_results
        said = told(memory, asked.request(nearest=0), answer)
        return memories(answer, asked.query, asked.offset, archived, said)

    return Tool(
        "query_memory",
        "Ask what you and others remember, and the knowledge base with it: by meaning and by "
        "words; working and session memory by words alone. Use it before you answer what may have "
        "been said, decided or learned before. What holds comes first; the rest says why it may "
        "not. Long entries come as the part that answers.",
        run,
        args=AskedMemory,
        result=Memories,
        annotations=READ_ONLY,
        floor=Tier.PUBLIC,
        title="Ask memory",
    )


def _get(memory: Memory) -> Any:
    async def get_memory(id: str, offset: int = 0, *, caller: Caller) -> WholeMemory:
        """Read one entry: all that is said about it, and its content from an offset on.

        Args:
            id: The entry's id, as `query_memory` and `list_memory` give it.
            offset: Where to begin: the next_offset of an earlier answer.
        """
        record = await memory.reader.entry(id, caller)
        shown = piece(record.content, offset, MAX_PIECE_BYTES)
        author = (await memory.authors.of([record], caller.person))[record.id]
        standings = await memory.standing.of_each([record], caller_keys(caller))
        said, times = record.metadata, record.validity
        said_at, event_at = said_and_event(record)
        return WholeMemory(
            id=record.id,
            title=said.title,
            content=shown.text,
            offset=shown.offset,
            next_offset=shown.next_offset,
            total=shown.total,
            layer=record.layer,
            policy=record.access.policy,
            named=await _named(memory, record, caller) if record.owner == caller.person else None,
            tags=list(said.tags),
            by=author.shown,
            source=record.source,
            mine=record.owner == caller.person,
            version=record.version,
            created=record.created,
            changed=record.changed,
            standing=standings.get(record.id),
            at_odds=await memory.review.of(record.id, caller) or None,
            said_at=said_at,
            event_at=event_at,
            valid_from=times.valid_from,
            valid_until=times.valid_until,
            verified=await _looked(memory, record, caller),
            confidence=said.confidence,
            importance=said.importance,
            turn=await _turn(memory, said.custom.get(FROM), caller),
            note=_NOTE if id.startswith(NOTE_PREFIX) else None,
        )

    return get_memory


async def _turn(memory: Memory, said: object, caller: Caller) -> str | None:
    """The turn that an entry says it comes from, where the caller can read it still."""
    if not isinstance(said, str) or not is_generated_id(said):
        return None  # others may write anything into that field
    return said if await memory.entries.reads.read([said], caller_keys(caller)) else None


async def _looked(memory: Memory, record: Record, caller: Caller) -> LastLook | None:
    """Who last looked whether an entry holds, by the name that the portal has for them."""
    if (seen := record.verified) is None:
        return None
    names = await memory.authors.names({seen.by})
    by = "you" if seen.by == caller.person else names.get(seen.by, seen.by)
    return LastLook(at=seen.at, by=by, against=seen.against)


async def _named(memory: Memory, record: Record, caller: Caller) -> list[NamedReader] | None:
    """Whom an entry's policy names, as its owner may know: who cannot be found, by their id."""
    people, groups = record.access.approved_users, record.access.allowed_teams
    names = await memory.governed.recipients.names(people, caller)
    found = [NamedReader(kind="person", id=each, name=names.get(each, each)) for each in people]
    known = memory.people.groups() | caller.groups
    shared = [
        NamedReader(kind="group", id=each, name=each, gone=each not in known) for each in groups
    ]
    return [*found, *shared] or None


_NOTE = "The beginning of a note of the knowledge base: get_document has all of it."


async def list_entries(memory: Memory, filters: ListFilters, caller: Caller) -> Listing[Any]:
    """Entries that a caller may read, the newest first, for the gateway to page.

    Raises:
        MemoryFailed: the caller may not read, or nothing that they may read is by the author.
    """
    found = await memory.lists(filters, caller)
    if not found.total and filters.author is not None:
        await check_author(memory, filters.author, caller)

    async def ready(ids: Sequence[str]) -> Sequence[Listed]:
        records = await memory.lists.read(ids, caller)
        authors = await memory.authors.of(records, caller.person)
        standings = await memory.standing.of_each(records, caller_keys(caller))
        return [
            list_item(each, authors[each.id], caller.person, standings.get(each.id))
            for each in records
        ]

    # What is written meanwhile goes to the beginning, so a page ends at a time and not at an entry.
    return Listing(found.ids, key=found.place, total=found.total, ordered=True, ready=ready)


def _list(memory: Memory) -> Tool:
    async def run(asked: ListFilters, caller: Caller) -> Listing[Any]:
        return await list_entries(memory, asked, caller)

    return Tool(
        "list_memory",
        "List what is remembered, the newest first: yours, or all that you may read. To find what "
        "answers a question, use `query_memory`.",
        run,
        args=ListFilters,
        annotations=READ_ONLY,
        floor=Tier.PUBLIC,
        title="List memory",
        page=PAGE,
    )
