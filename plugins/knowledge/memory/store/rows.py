"""Converts entries to database rows and back."""

from __future__ import annotations

from typing import Any

from plugins.knowledge.memory.model.entry import KnowledgeMetadata, KnowledgeSource, Layer
from plugins.knowledge.memory.model.policy import AccessPolicyConfig
from plugins.knowledge.memory.model.record import Record


def row_of(record: Record) -> dict[str, Any]:
    """The values of an entry's row."""
    return {
        "id": record.id,
        "layer": str(record.layer),
        "owner": record.owner,
        "agent": record.agent,
        "content": record.content,
        "metadata": record.metadata.model_dump(mode="json", exclude_none=True),
        "source": record.source.model_dump(mode="json", exclude_none=True),
        "access": record.access.model_dump(mode="json"),
        "fingerprint": record.fingerprint,
        "version": record.version,
        "versioned": record.versioned,
        "embedded": record.embedded,
        "created": record.created,
        "updated": record.updated,
        "placed": record.placed,
        "uses": record.uses,
        "used": record.used,
        "expires": record.expires,
    }


def record_of(row: Any) -> Record:
    """The entry of a row."""
    return Record(
        id=row.id,
        layer=Layer(row.layer),
        owner=row.owner,
        agent=row.agent,
        content=row.content,
        metadata=KnowledgeMetadata.model_validate(row.metadata),
        source=KnowledgeSource.model_validate(row.source),
        access=AccessPolicyConfig.model_validate(row.access),
        version=row.version,
        versioned=row.versioned,
        embedded=row.embedded,
        created=row.created,
        updated=row.updated,
        placed=row.placed,
        uses=row.uses,
        used=row.used,
        expires=row.expires,
    )
