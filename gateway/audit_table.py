"""The audit table, in SQLAlchemy Core; apart from ``audit.py``, so that it is imported late."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC: stored without its zone, which SQLite would drop, and given back with it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give UTC back."""
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()

audit = Table(
    "porch_audit",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
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
