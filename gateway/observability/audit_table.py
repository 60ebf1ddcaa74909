"""The audit table, in SQLAlchemy Core; apart from ``audit.py``, so that it is imported late."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    MetaData,
    Table,
    Text,
)

from gateway.toolkit.columns import NUMBER, UtcDateTime

metadata = MetaData()

audit = Table(
    "porch_audit",
    metadata,
    Column("id", NUMBER, primary_key=True),
    Column("at", UtcDateTime, nullable=False, index=True),
    Column("request_id", Text, nullable=False),
    Column("person", Text),
    Column("tier", Text, nullable=False),
    Column("item", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("surface", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("bytes_out", BigInteger, nullable=False),
)
"""One row for each call (``AuditRecord``)."""
