"""The tables of work for agents, in SQLAlchemy Core; imported late, as the audit log's is."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from gateway.identity.stores.tables import Shown
from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import PLAIN, Json, UtcDateTime

items = Table(
    "porch_work_items",
    metadata,
    Column("id", PLAIN, primary_key=True),
    Column("kind", PLAIN, nullable=False),
    Column("key", PLAIN, nullable=False),
    Column("digest", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("rows", Json, nullable=False),
    Column("context", Json),
    Column("extra", Integer, nullable=False),
    Column("refusals", Integer, nullable=False),
    Column("reason", Shown),
    Column("published", UtcDateTime, nullable=False),
    Column("changed", UtcDateTime, nullable=False),
    UniqueConstraint("kind", "key", name="uq_porch_work_items"),
    Index("ix_porch_work_items_state", "state", "published", "id"),
)
"""Items (``gateway.work.records.WorkItem``). A kind is written with its plugin."""

leases = Table(
    "porch_work_leases",
    metadata,
    Column("item", ForeignKey("porch_work_items.id", ondelete="CASCADE"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("until", UtcDateTime, nullable=False),
    Index("ix_porch_work_leases_person", "person", "until"),
)
"""Who has taken which item; one that has ended stays until somebody takes its place."""

answers = Table(
    "porch_work_answers",
    metadata,
    Column("id", PLAIN, primary_key=True),
    Column("item", PLAIN, nullable=False),  # which may be gone
    Column("kind", PLAIN, nullable=False),
    Column("key", PLAIN, nullable=False),
    Column("person", Text, nullable=False),
    Column("client", Shown, nullable=False),
    Column("model", Shown, nullable=False),
    Column("answer", Json),
    Column("outcome", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_porch_work_answers_item", "item", "outcome"),
    Index("ix_porch_work_answers_person", "person"),
    Index("ix_porch_work_answers_at", "at"),
)
"""Answers (``gateway.work.records.Answer``)."""

applied = Table(
    "porch_work_applied",
    metadata,
    Column("answer", PLAIN, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
)
"""Answers that a plugin has put to use, each in the transaction in which it did."""
