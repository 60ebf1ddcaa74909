"""The tables of memory, in SQLAlchemy Core; imported late. ``migrations/`` makes them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

from gateway.toolkit.columns import NUMBER, PLAIN, Json, UtcDateTime


def _where_set(name: str) -> Index:
    """An index of the entries that have a value, which are few.

    With the others in it, SQLite would take it to find an entry by its id, among all that are not
    forgotten.
    """
    having = text(f"{name} IS NOT NULL")
    return Index(f"ix_memory_entries_{name}", name, sqlite_where=having, postgresql_where=having)


metadata = MetaData()

entries = Table(
    "memory_entries",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("id", PLAIN, nullable=False, unique=True),
    Column("layer", PLAIN, nullable=False),
    Column("owner", PLAIN, nullable=False),
    Column("agent", PLAIN),
    Column("content", Text, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("source", Json, nullable=False),
    Column("access", Json, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("versioned", Boolean, nullable=False),
    Column("embedded", Boolean, nullable=False),
    Column("created", UtcDateTime, nullable=False),
    Column("updated", UtcDateTime),
    Column("worded", UtcDateTime),
    Column("placed", UtcDateTime, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("used", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime),
    Column("deleted", UtcDateTime),
    Column("event_at", UtcDateTime),
    Column("valid_from", UtcDateTime),
    Column("valid_until", UtcDateTime),
    Column("verified", Json),
    Column("challenged", Boolean, nullable=False, default=False),
    Column("follows", NUMBER),
    Column("taken_from", NUMBER),
    Index("ix_memory_entries_layer", "layer", "owner"),
    Index("ix_memory_entries_owner", "owner", "fingerprint"),
    _where_set("expires"),
    _where_set("deleted"),
    _where_set("follows"),
    _where_set("taken_from"),
)
"""One row an entry; ``deleted`` is set where it was forgotten and may still be looked up by its
owner, ``expires`` where its layer keeps entries for a time only, ``worded`` where its last change
was of something else than its content."""

relations = Table(
    "memory_relations",
    metadata,
    Column("entry", PLAIN, primary_key=True),
    Column("target", PLAIN, primary_key=True),
    Column("kind", PLAIN, nullable=False),
    Column("by", PLAIN, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_memory_relations_target", "target"),
    Index("ix_memory_relations_kind", "kind", "at"),
)
"""How an entry goes together with an earlier one: decided by a person, or found and undecided."""

review_requests = Table(
    "memory_review_requests",
    metadata,
    Column("document", PLAIN, primary_key=True),
    Column("cause", PLAIN, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_memory_review_requests_at", "at"),
)
"""For which documents people were asked to look, and why, so that nobody is asked again."""

labels = Table(
    "memory_labels",
    metadata,
    Column("entry", NUMBER, primary_key=True),
    Column("label", PLAIN, primary_key=True),
    sqlite_with_rowid=False,
)
"""What an entry is found or held back by: its readers, tags, source, author and custom fields."""

words = Table(
    "memory_words",
    metadata,
    Column("layer", PLAIN, primary_key=True),
    Column("term", BigInteger, primary_key=True),
    Column("entry", NUMBER, primary_key=True),
    Column("weight", Float, nullable=False),
    Index("ix_memory_words_entry", "entry"),
    sqlite_with_rowid=False,
)
"""The terms of an entry, each with its BM25 weight without the rarity of the term. Its layer comes
first, so that a question to one layer passes none of the other layers' rows."""

entities = Table(
    "memory_entities",
    metadata,
    Column("entity", PLAIN, primary_key=True),
    Column("entry", NUMBER, primary_key=True),
    Index("ix_memory_entities_entry", "entry"),
    sqlite_with_rowid=False,
)
"""What entries name, by which one leads to another (``algorithms/entities.py``)."""

versions = Table(
    "memory_versions",
    metadata,
    Column("entry", PLAIN, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("by", Text, nullable=False),
    Column("fields", Json),
    Column("readers", Json, nullable=False),
    Column("approved_by", Text),
)
"""What an entry was, and the keys that could read it then; ``fields`` is null where it keeps no
versions, only who wrote when. ``approved_by`` is somebody else who allowed it."""

events = Table(
    "memory_events",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("kind", Text, nullable=False),
    Column("entry", PLAIN, nullable=False),
    Column("layer", PLAIN, nullable=False),
    Column("readers", Json, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("body", Json),
    Index("ix_memory_events_entry", "entry"),
    Index("ix_memory_events_at", "at"),
)
"""What happened, in order, for those who follow it: each with the readers of the entry then."""

approvals = Table(
    "memory_approvals",
    metadata,
    Column("id", PLAIN, primary_key=True),
    Column("operation", Text, nullable=False),
    Column("entry", PLAIN),
    Column("payload", Json),
    Column("reason", Text),
    Column("requested_by", PLAIN, nullable=False),
    Column("requested_at", UtcDateTime, nullable=False),
    Column("state", PLAIN, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", UtcDateTime),
    Column("note", Text),
    Index("ix_memory_approvals_state", "state", "requested_at"),
)
"""What waits for a person, and what was decided."""

audit = Table(
    "memory_audit",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("at", UtcDateTime, nullable=False),
    Column("person", PLAIN, nullable=False),
    Column("operation", Text, nullable=False),
    Column("entry", PLAIN),
    Column("outcome", Text, nullable=False),
    Column("request", Text),
    Index("ix_memory_audit_entry", "entry"),
)
"""Who did what, by ids alone; the database refuses to change or remove a row."""

batches = Table(
    "memory_batches",
    metadata,
    Column("id", PLAIN, primary_key=True),
    Column("person", PLAIN, nullable=False),
    Column("acting", Json, nullable=False),
    Column("operation", Text, nullable=False),
    Column("goes_on", Boolean, nullable=False),
    Column("notifies", Boolean, nullable=False),
    Column("status", PLAIN, nullable=False),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("succeeded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("message", Text),
    Column("sent", UtcDateTime, nullable=False),
    Column("ended", UtcDateTime),
    Index("ix_memory_batches_person", "person", "status"),
    Index("ix_memory_batches_sent", "sent"),
)
"""Many writes of one kind, who sent them, and how far they are."""

batch_entries = Table(
    "memory_batch_entries",
    metadata,
    Column("batch", PLAIN, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("entry", PLAIN, nullable=False),
    Column("request", Json),
    Column("outcome", Text),
    Column("approval", Text),
    Column("error", Json),
)
"""The writes of a batch: what is asked for, until it is tried, and then what became of it."""
