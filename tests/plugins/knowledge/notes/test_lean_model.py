"""A hundred thousand documents do not each remember which of their fields were given."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.contract import Tier
from plugins.knowledge.notes.documents import Document, DocumentEntry
from plugins.knowledge.sync.manifest import FileRecord

MOMENT = datetime(2026, 11, 30, tzinfo=UTC)


def document(id: str) -> Document:
    """A document as a sync makes it."""
    return Document.model_validate(
        {
            "id": id,
            "content_type": "file",
            "path": f"{id}.md",
            "metadata": {"type": "file", "title": id, "date": "2026-01-01", "mood": "calm"},
            "synced_at": MOMENT,
            "commit_sha": "",
            "tier": Tier.OPEN,
            "content": "A river.",
        }
    )


def test_entries_share_what_nothing_asks_for_however_they_came_about() -> None:
    made = document("river").entry()
    read = DocumentEntry.model_validate_json(made.model_dump_json())
    record = FileRecord.model_validate({"stamp": "1", "date": MOMENT, "entry": read})
    every = [made, made.metadata, read, read.metadata, record]
    assert len({id(one.model_fields_set) for one in every}) == 1


def test_what_is_read_again_is_what_was_written() -> None:
    entry = document("river").entry()
    assert DocumentEntry.model_validate_json(entry.model_dump_json()) == entry
    assert entry != document("brook").entry()
    assert entry.model_copy(update={"id": "brook"}).metadata is entry.metadata
    assert entry.metadata.model_extra == {"mood": "calm"}
