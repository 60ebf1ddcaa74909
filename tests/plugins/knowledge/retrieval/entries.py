"""Documents as the catalogue has them, by their path and title."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gateway.contract import Tier
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.documents import DocumentEntry

DAY = datetime(2024, 10, 16, tzinfo=UTC)


def at(path: str, title: str = "Bread") -> DocumentEntry:
    """A document of a file."""
    fields: dict[str, Any] = {"type": "file", "title": title, "date": DAY}
    metadata = CONTENT.validate_python(fields)
    return DocumentEntry(
        id="bread",
        content_type=metadata.type,
        path=path,
        metadata=metadata,
        synced_at=DAY,
        commit_sha="",
        tier=Tier.OPEN,
    )
