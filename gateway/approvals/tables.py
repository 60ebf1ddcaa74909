"""The tables of requests, in SQLAlchemy Core; imported late, as the audit log's is."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, Text

from gateway.identity.stores.tables import Shown
from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import Json, UtcDateTime

approvals = Table(
    "porch_approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),  # not always one of porch_people
    Column("item", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("name", Shown, nullable=False),
    Column("arguments", Json),
    Column("who", Shown, nullable=False),
    Column("quorum", Integer, nullable=False),
    Column("own", Boolean, nullable=False),
    Column("in_client", Boolean, nullable=False),
    Column("state", Text, nullable=False),
    Column("asked", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime, nullable=False),
    Column("ended", UtcDateTime),
    Column("note", Shown),
    Column("run", Text),
    Column("accounts", Json),
    Column("back", Json),
    Index("ix_porch_approvals_call", "person", "digest", "state"),
    Index("ix_porch_approvals_state", "state", "expires"),
    Index("ix_porch_approvals_ended", "ended"),
)
"""Requests (``gateway.approvals.request.ApprovalRequest``)."""

votes = Table(
    "porch_approval_votes",
    metadata,
    Column("approval", ForeignKey("porch_approvals.id", ondelete="CASCADE"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("yes", Boolean, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("accounts", Json),
)
"""What people said to them; one word each."""
