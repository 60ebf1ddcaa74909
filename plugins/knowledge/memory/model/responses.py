"""What the protocol's operations answer (Knowledge Provider, same section)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from plugins.knowledge.memory.model.author import AUTHOR_FIELD, Author
from plugins.knowledge.memory.model.entry import (
    KnowledgeEntry,
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
)
from plugins.knowledge.memory.model.outcomes import BatchOperation, BatchStatus, Outcome
from plugins.knowledge.memory.model.validity import Relation, Verification


class ProviderName(BaseModel):
    """Who answers."""

    name: str
    version: str


class Highlight(BaseModel):
    """Where the question's words stand."""

    content: list[str] = Field(default_factory=list)
    metadata: dict[str, list[str]] | None = None


class Standing(BaseModel):
    """Whether what an entry says still holds; nothing in it tells of what a reader may not see."""

    holds: bool = Field(description="Whether it holds, as far as is known.")
    text: str = Field(description="The same in words; empty where there is nothing to say.")
    superseded_by: list[str] = Field(default_factory=list)
    corrected_by: list[str] = Field(default_factory=list)
    contested_with: list[str] = Field(default_factory=list)
    seems_replaced_by: list[str] = Field(
        default_factory=list, description="Found by the portal; nobody has decided it."
    )
    ended_at: datetime | None = Field(None, description="When it ceased to hold.")
    starts_at: datetime | None = Field(None, description="When it will hold.")
    unverified_days: int | None = Field(
        None, description="Days since anybody wrote or verified it, where that is long ago."
    )
    source_changed: bool = Field(
        False, description="What it was verified against has changed, or is gone."
    )


class LinkedBy(BaseModel):
    """What leads from another answer to this one."""

    name: str = Field(description="What both name.")
    entry_id: str = Field(description="The other answer.")


CONTEXT_FIELD = (
    "Of what was said in a conversation: what the turn before it asked, or all of its turn."
)
"""What an answer says of its field with what was said around it."""


class QueryResult(BaseModel):
    """One answer."""

    entry: KnowledgeEntry
    score: float = Field(ge=0, le=1)
    distance: float | None = None
    layer: Layer | None = Field(None, description="Where it is.")
    author: Author | None = Field(None, description=AUTHOR_FIELD)
    standing: Standing | None = Field(
        None, description="What to know of whether it holds; none where it does."
    )
    highlight: Highlight | None = None
    linked_by: LinkedBy | None = Field(
        None, description="Where it answers by what it shares with another answer."
    )
    context: str | None = Field(None, description=CONTEXT_FIELD)
    passage: int = Field(0, exclude=True)
    """Which passage of it is near to the question, for who shows a part of it alone."""


class QueryMetadata(BaseModel):
    """How the answer came to be.

    Attributes:
        layers_contributed: those of which something was found; beside the protocol's own fields.
        layers_failed: why a layer is missing, or not whole, by its name; likewise.
        layers_by_words: those that were asked by the question's words alone, though not by its
            mode: a paraphrase is not found there; likewise.
        note: what to know of the question and of what was searched, as the tools say it; likewise.
        more_may_fit: whether as many fit as a layer compares at once, so that a later page may have
            others, which are not counted yet; likewise.
    """

    total_results: int
    execution_time_ms: float
    layers_queried: list[str]
    provider: ProviderName
    layers_contributed: list[str] = Field(default_factory=list)
    layers_failed: dict[str, str] = Field(default_factory=dict)
    layers_by_words: list[str] = Field(default_factory=list)
    note: str | None = None
    more_may_fit: bool = False


class QueryResponse(BaseModel):
    """The answers to a question."""

    query_id: str
    results: list[QueryResult]
    metadata: QueryMetadata
    streaming_url: str | None = None
    nearest: list[QueryResult] | None = Field(
        None, description="Where that is asked for: the best of what is below min_score."
    )


class NearEntry(BaseModel):
    """An entry that is near in meaning."""

    id: str
    content: str = Field(description="What it says, or its beginning.")
    similarity: float = Field(description="How near, -1 to 1.")
    seems: Relation | None = Field(
        None, description="seems_to_replace: the new entry seems to replace it."
    )
    later: bool = Field(
        False,
        description="It is the later of the two: what was written now tells of a time before it, "
        "and replaces nothing that it says.",
    )
    why: str = Field("", description="What makes it seem so, or that it says the same.")
    changed: datetime = Field(description="When it was last written.")
    layer: Layer = Field(description="Where it is.")


class ApprovalRequired(BaseModel):
    """Who asked for what a person has yet to allow, and when."""

    request_id: str
    requested_by: str
    requested_at: datetime


class CreateResponse(BaseModel):
    """What became of a write."""

    entry: KnowledgeEntry
    status: Literal["created", "updated", "pending_approval"]
    approval_required: ApprovalRequired | None = None
    note: str | None = Field(
        None,
        description="That nobody else reads it, where its policy is for others and names none; "
        "that it is long, and found by meaning throughout only in some minutes; or that it was "
        "over, and holds again as it says something else now.",
    )
    near: list[NearEntry] = Field(
        default_factory=list,
        description="Entries near in meaning: say how the new one goes together with them.",
    )


class RelationResponse(BaseModel):
    """What became of a decision how two entries go together."""

    entry_id: str
    target: str
    kind: Relation
    status: Literal["done", "pending_approval"]
    approval_required: ApprovalRequired | None = None


class VerificationResponse(BaseModel):
    """That somebody looked whether an entry still holds."""

    entry_id: str
    verified: Verification


class SameWords(BaseModel):
    """An entry that holds words of another one."""

    id: str
    layer: Layer = Field(description="episodic: the turn of the conversation.")
    content: str = Field(description="What it says, or its beginning.")


class DeleteResponse(BaseModel):
    """What became of a deletion."""

    deleted: bool
    entry_id: str
    approval_required: ApprovalRequired | None = None
    note: str | None = Field(None, description="What follows from it: what it ended holds again.")
    same_words: list[SameWords] | None = Field(
        None,
        description="What still holds words of it: the turn of a conversation it comes from, or "
        "what was found in it. Where these are to go too, remove each by its id.",
    )


class VersionSaid(BaseModel):
    """One version of an entry."""

    version: int
    created_at: datetime
    created_by: str


class MetadataResponse(BaseModel):
    """All of an entry but its content."""

    entry_id: str
    metadata: KnowledgeMetadata
    source: KnowledgeSource
    version_history: list[VersionSaid] | None = None


class BatchError(BaseModel):
    """Why one entry of a batch was not taken.

    Attributes:
        index: its place in the request, from 0.
        id: the entry's id, where it has one.
    """

    index: int
    code: int
    message: str
    id: str | None = None
    details: Any = None


class BatchResults(BaseModel):
    """How many went well, of those that were tried so far."""

    succeeded: int = 0
    failed: int = 0
    errors: list[BatchError] = Field(default_factory=list, description="The first 1,000.")
    pending: int = Field(0, description="Those of the succeeded that wait for a person.")


class BatchResponse(BaseModel):
    """How far a batch is."""

    operation_id: str
    status: BatchStatus = Field(
        description="completed: every entry was tried. failed: an error ended it, and what was "
        "written until then stays."
    )
    results: BatchResults
    results_url: str | None = Field(None, description="Where this is asked for, on this server.")


class BatchEntry(BaseModel):
    """What became of one entry of a batch."""

    index: int = Field(description="Its place in the request, from 0.")
    id: str = Field(description="The entry's id.")
    status: Literal["waiting", Outcome]
    request_id: str | None = Field(None, description="Of the request that a person decides.")


class BatchReport(BatchResponse):
    """How far a batch is, and a page of what became of its entries."""

    operation: BatchOperation
    total: int = Field(description="Entries of the batch.")
    message: str | None = Field(None, description="Why it waits, or ended before its last entry.")
    created_at: datetime
    completed_at: datetime | None = None
    offset: int
    entries: list[BatchEntry]
    next_offset: int | None = Field(None, description="Where the next page begins.")
