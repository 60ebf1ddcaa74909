"""What the provider can do, as it is today (protocol, "Discovery Endpoint")."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gateway.toolkit.questions import MAX_QUESTION_CHARACTERS
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.entry import KnowledgeMetadata, Layer, SourceType
from plugins.knowledge.memory.model.policy import AccessPolicy
from plugins.knowledge.memory.model.requests import (
    MAX_BATCH_ENTRIES,
    MAX_ENTRY_BYTES,
    MAX_OFFSET,
    MAX_RESULTS,
    QUERIES_PER_MINUTE,
    Metric,
    Mode,
    QueryFilters,
)


class QueryCapabilities(BaseModel):
    """What can be asked."""

    modes: list[Mode]
    layers: list[Layer]
    filters: list[str]
    distance_metrics: list[Metric]
    max_query_length: int = Field(description="Characters.")
    max_results: int
    max_offset: int
    highlights: bool


class StorageCapabilities(BaseModel):
    """What can be kept, and how."""

    operations: list[str]
    layers: list[Layer]
    access_policies: list[AccessPolicy]
    generate_embedding: bool
    hard_delete: bool


class MetadataCapabilities(BaseModel):
    """What can be said about an entry."""

    fields: list[str]
    custom_fields: bool
    version_history: bool


class StreamingCapabilities(BaseModel):
    """What is told as it happens."""

    types: list[str]
    formats: list[str]


class Capabilities(BaseModel):
    """What the provider can do."""

    query: QueryCapabilities
    storage: StorageCapabilities
    metadata: MetadataCapabilities
    streaming: StreamingCapabilities


class Limits(BaseModel):
    """How much at once; how often is in the headers of each answer."""

    max_entry_size: int = Field(description="Bytes of content, as UTF-8.")
    max_batch_size: int = Field(description="Entries.")
    max_embeddings_dim: int = Field(description="Dimensions; 0 where there is no model.")
    query_rate_limit: int = Field(
        description="Queries a minute of one caller, where the admin has set nothing else: the "
        "headers of each answer have what counts."
    )


class Features(BaseModel):
    """What of the protocol's features there is."""

    semantic_search: bool
    hybrid_search: bool
    reranking: bool
    cross_layer_query: bool
    versioning: bool
    promotion: bool


class Provider(BaseModel):
    """Who answers, and what it can do."""

    name: str
    version: str
    description: str
    capabilities: Capabilities
    supported_sources: list[SourceType]
    limits: Limits
    features: Features


class DiscoveryResponse(BaseModel):
    """The answer of discovery."""

    provider: Provider


def discovered(memory: Memory) -> DiscoveryResponse:
    """What a memory can do."""
    embedder = memory.query.embedder
    semantic = embedder is not None
    provider = Provider(
        name=memory.provider.name,
        version=memory.provider.version,
        description="What agents remember, and the community's knowledge base.",
        capabilities=_capabilities(semantic=semantic),
        supported_sources=list(SourceType),
        limits=Limits(
            max_entry_size=MAX_ENTRY_BYTES,
            max_batch_size=MAX_BATCH_ENTRIES,
            max_embeddings_dim=0 if embedder is None else embedder.dimensions,
            query_rate_limit=QUERIES_PER_MINUTE,
        ),
        features=Features(
            semantic_search=semantic,
            hybrid_search=semantic,
            reranking=False,
            cross_layer_query=True,
            versioning=True,
            promotion=True,
        ),
    )
    return DiscoveryResponse(provider=provider)


def _capabilities(*, semantic: bool) -> Capabilities:
    return Capabilities(
        query=QueryCapabilities(
            modes=list(Mode) if semantic else [Mode.KEYWORD],
            layers=list(Layer),
            filters=list(QueryFilters.model_fields),
            distance_metrics=list(Metric) if semantic else [],
            max_query_length=MAX_QUESTION_CHARACTERS,
            max_results=MAX_RESULTS,
            max_offset=MAX_OFFSET,
            highlights=True,
        ),
        storage=StorageCapabilities(
            operations=["create", "update", "delete", "batch", "upsert"],
            layers=list(Layer),
            access_policies=list(AccessPolicy),
            generate_embedding=semantic,
            hard_delete=True,
        ),
        metadata=MetadataCapabilities(
            fields=list(KnowledgeMetadata.model_fields), custom_fields=True, version_history=True
        ),
        streaming=StreamingCapabilities(
            types=["query", "updates", "notifications"], formats=["sse", "websocket"]
        ),
    )
