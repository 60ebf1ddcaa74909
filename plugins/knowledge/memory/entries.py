"""An entry and its parts, as the protocol writes them (Knowledge Provider, "Core Concepts")."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _written(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise ValueError("a time is written as text, such as 2026-03-01T12:00:00Z")


# What clients send is taken at its word: a number is no yes, and no time either.
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Moment = Annotated[datetime, BeforeValidator(_written)]


class Part(BaseModel):
    """The base of what the protocol names: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Layer(StrEnum):
    """A memory layer, from the most fleeting to the most lasting."""

    WORKING = "working"
    SESSION = "session"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    USER = "user"
    ORGANIZATION = "organization"
    ARCHIVAL = "archival"


OWN = frozenset({Layer.WORKING, Layer.SESSION})
"""Layers that are their owner's alone, whatever the policies of the entries in them say."""


class SourceType(StrEnum):
    """What kind of place knowledge comes from."""

    USER_UPLOAD = "user_upload"
    GIT_REPOSITORY = "git_repository"
    NOTEBOOKLM = "notebooklm"
    DUST_AI = "dust_ai"
    PERPLEXITY = "perplexity"
    WEB_SCRAPE = "web_scrape"
    API_IMPORT = "api_import"
    AGENT_GENERATED = "agent_generated"
    CUSTOM_PROVIDER = "custom_provider"


class AccessPolicy(StrEnum):
    """Who may read an entry."""

    PRIVATE = "private"
    RESTRICTED = "restricted"
    SHARED = "shared"
    ORGANIZATION = "organization"
    PUBLIC = "public"


class AccessPolicyConfig(Part):
    """A policy, and whom it names."""

    policy: AccessPolicy = Field(description="Who may read the entry.")
    approved_users: tuple[str, ...] = Field(
        (), max_length=1000, description="The ids of people who may, where it is restricted."
    )
    allowed_teams: tuple[str, ...] = Field(
        (), max_length=100, description="The groups whose members may, where it is shared."
    )


PRIVATE = AccessPolicyConfig(policy=AccessPolicy.PRIVATE)
"""The policy of what is its owner's alone."""


class KnowledgeMetadata(Part):
    """What is said about an entry."""

    title: str | None = Field(None, max_length=500)
    description: str | None = Field(None, max_length=5000)
    tags: tuple[str, ...] = Field((), max_length=100)
    language: str | None = Field(None, max_length=35, description="A BCP 47 tag, such as en.")
    author: str | None = Field(None, max_length=200)
    confidence: Number | None = Field(None, ge=0, le=1, description="How sure it is.")
    importance: Number | None = Field(None, ge=0, le=1, description="How much it matters.")
    custom: dict[str, Any] = Field(default_factory=dict, description="Anything else, as JSON.")


class KnowledgeSource(Part):
    """Where an entry comes from."""

    type: SourceType = SourceType.AGENT_GENERATED
    identifier: str = Field("", max_length=2000, description="An address, a repository's name ...")
    version: str | None = Field(None, max_length=200, description="A commit, an API's version ...")
    provider_id: str | None = Field(None, max_length=200, description="The provider it came from.")


class KnowledgeEntry(Part):
    """One thing that is known."""

    id: str
    content: str = Field(description="Text, code or a document.")
    embedding: tuple[float, ...] | None = Field(None, description="Its vector, of length one.")
    metadata: KnowledgeMetadata
    source: KnowledgeSource
    access_policy: AccessPolicy
    created_at: datetime
    updated_at: datetime | None = None
    version: int = Field(1, ge=1)
