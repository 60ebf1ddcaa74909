"""An entry and its parts, as the protocol writes them (Knowledge Provider, "Core Concepts")."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import Field

from plugins.knowledge.memory.model.fields import Number, Part
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.validity import Validity, Verification


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


OWNER_ONLY_LAYERS = frozenset({Layer.WORKING, Layer.SESSION})
"""Layers that only the owner reads, whatever policy an entry in them has."""
LAYERS_WITH_VECTORS = frozenset(Layer) - OWNER_ONLY_LAYERS
"""Layers that are also searched by meaning; the others are small and short-lived."""
LAYER_LIFETIMES: Mapping[Layer, timedelta] = {Layer.SESSION: timedelta(days=1)}
"""How long a layer keeps an entry that nobody writes or uses again."""


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


FROM = "from"
"""The custom field of what was found in a conversation: the id of the turn whose words it has."""


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
    validity: Validity | None = Field(None, description="When it holds, where that was said.")
    verified: Verification | None = Field(None, description="Who last looked whether it holds.")
