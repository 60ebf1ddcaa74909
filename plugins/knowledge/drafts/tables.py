"""The table of drafts, in SQLAlchemy Core; imported late. ``migrations/`` makes it."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Integer, MetaData, Table, Text

from gateway.toolkit.columns import PLAIN, Json, UtcDateTime

metadata = MetaData()

drafts = Table(
    "knowledge_drafts",
    metadata,
    Column("id", PLAIN, primary_key=True),
    Column("person", PLAIN, nullable=False, index=True),
    Column("source", PLAIN, nullable=False),
    Column("path", PLAIN, nullable=False),
    Column("slot", PLAIN, unique=True),
    Column("document", PLAIN, nullable=False),
    Column("title", Text, nullable=False),
    Column("tier", PLAIN, nullable=False),
    Column("state", PLAIN, nullable=False, index=True),
    Column("proposal", Json, nullable=False),
    Column("text", Text),
    Column("version", Integer, nullable=False),
    Column("pushed", Integer, nullable=False),
    Column("upon", PLAIN),
    Column("tried", Json, nullable=False),
    Column("signed", Json, nullable=False),
    Column("number", Integer),
    Column("url", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("remarks", Json, nullable=False),
    Column("wants_changes", Boolean, nullable=False),
    Column("conflicts", Boolean, nullable=False),
    Column("created", UtcDateTime, nullable=False),
    Column("changed", UtcDateTime, nullable=False),
    Column("looked", UtcDateTime),
    Column("lease", UtcDateTime),
)
"""``slot`` is one for each page that a person drafts; NULL once the draft has ended. ``lease`` is
until when one replica works on it at its source."""
