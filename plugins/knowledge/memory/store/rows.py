"""Converts entries to database rows and back."""

from __future__ import annotations

from typing import Any

from plugins.knowledge.memory.model.entry import KnowledgeMetadata, KnowledgeSource, Layer
from plugins.knowledge.memory.model.policy import AccessPolicyConfig
from plugins.knowledge.memory.model.record import Record, Writer
from plugins.knowledge.memory.model.validity import ANY_TIME, Validity, Verification


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
        "worded": record.worded,
        "placed": record.placed,
        "uses": record.uses,
        "used": record.used,
        "expires": record.expires,
        "event_at": record.validity.event_at,
        "valid_from": record.validity.valid_from,
        "valid_until": record.validity.valid_until,
        "follows": record.follows,
        "taken_from": record.taken_from,
        "verified": record.verified and record.verified.kept(),
    }


def record_of(row: Any, writer: Writer | None = None) -> Record:
    """The entry of a row, with who wrote it where that was read too."""
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
        worded=row.worded,
        placed=row.placed,
        uses=row.uses,
        used=row.used,
        expires=row.expires,
        validity=validity_of(row),
        verified=row.verified and Verification.model_validate(row.verified),
        challenged=row.challenged,
        number=row.number,
        follows=row.follows,
        taken_from=row.taken_from,
        writer=writer,
    )


def validity_of(row: Any) -> Validity:
    """When the entry of a row holds; what was checked when it was written is not checked again."""
    if row.event_at is row.valid_from is row.valid_until is None:
        return ANY_TIME
    return Validity.model_construct(
        event_at=row.event_at, valid_from=row.valid_from, valid_until=row.valid_until
    )
