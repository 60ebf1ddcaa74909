"""What streams tell, and what they are asked for (protocol, "Streaming Endpoint")."""

from __future__ import annotations

from datetime import datetime
from typing import Any, get_args

from pydantic import BaseModel, Field

from plugins.knowledge.memory.model.entry import KnowledgeEntry, Layer, SourceType
from plugins.knowledge.memory.model.outcomes import Change
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.requests import Sent
from plugins.knowledge.memory.model.responses import QueryResult

OPERATIONS: frozenset[str] = frozenset(get_args(Change))
"""What updates tell of; every other kind of event is a notification."""


class UpdateFilters(Sent):
    """Which updates are told: all that are given must hold."""

    layers: tuple[Layer, ...] = Field((), description="In one of these.")
    operations: tuple[Change, ...] = Field((), description="One of these.")
    tags: tuple[str, ...] = Field((), max_length=100, description="With one of these.")
    source_type: SourceType | None = None
    author: str | None = Field(None, max_length=200)
    agent_id: str | None = Field(None, max_length=200, description="Written by this agent.")
    access_policy: AccessPolicy | None = None


class EntryGone(BaseModel):
    """An entry of which there is nothing more to say."""

    id: str


class KnowledgeUpdateEvent(BaseModel):
    """Something happened to an entry.

    One that was deleted is told as it was last; where it was erased, or where you may not read it
    any more, by its id alone.
    """

    type: Change
    entry: KnowledgeEntry | EntryGone
    timestamp: datetime


class QueryResultEvent(BaseModel):
    """One answer to a question, or that there is none."""

    query_id: str
    result: QueryResult | None = None
    is_final: bool = Field(description="Whether it is the last.")


class NotificationEvent(BaseModel):
    """Something that concerns you."""

    type: str = Field(description="What: batch_completed, approval_requested ...")
    data: dict[str, Any] = Field(description="The ids by which to ask for more.")
    timestamp: datetime


class ResetEvent(BaseModel):
    """What happened since your last event is not kept: query again. The stream goes on from now."""

    message: str
