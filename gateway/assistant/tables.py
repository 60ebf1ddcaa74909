"""The tables of conversations, in SQLAlchemy Core; imported late, as the audit log's is."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Table, Text

from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import Json, UtcDateTime

conversations = Table(
    "porch_conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("title", Json, nullable=False),
    Column("begun", UtcDateTime, nullable=False),
    Column("changed", UtcDateTime, nullable=False),
    Index("ix_porch_conversations_person", "person", "changed"),
    Index("ix_porch_conversations_changed", "changed"),
)
"""Conversations (``gateway.assistant.conversation.Conversation``), each of one person."""

turns = Table(
    "porch_turns",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "conversation", ForeignKey("porch_conversations.id", ondelete="CASCADE"), nullable=False
    ),
    Column("number", Integer, nullable=False),
    Column("question", Json, nullable=False),
    Column("state", Text, nullable=False),
    Column("parts", Json, nullable=False),
    Column("trouble", Json),
    Column("messages", Json),
    Column("run", Text, nullable=False),
    Column("beat", BigInteger, nullable=False),
    Column("stop", Boolean, nullable=False),
    Column("begun", UtcDateTime, nullable=False),
    Column("ended", UtcDateTime),
    Index("ix_porch_turns_conversation", "conversation", "number", unique=True),
)
"""Turns (``gateway.assistant.conversation.Turn``). ``run`` names who writes the answer, so that one
alone does; ``stop`` asks them to end."""
