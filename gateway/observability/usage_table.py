"""The table of usage, in SQLAlchemy Core; apart from ``usage.py``, so that it is imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Table, Text

from gateway.observability.audit_table import metadata
from gateway.observability.metrics import BUCKETS
from gateway.toolkit.columns import UtcDateTime

SLOTS = tuple(f"within_{number}" for number in range(len(BUCKETS) + 1))
"""The columns of how many calls took how long: each up to a bound, the last beyond all."""

usage = Table(
    "porch_usage",
    metadata,
    Column("hour", UtcDateTime, primary_key=True),
    Column("plugin", Text, primary_key=True),
    Column("item", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("tier", Text, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("calls", BigInteger, nullable=False),
    Column("milliseconds", Float, nullable=False),
    Column("bytes_out", BigInteger, nullable=False),
    *(Column(slot, BigInteger, nullable=False) for slot in SLOTS),
    sqlite_with_rowid=False,  # so that the rows of some hours lie together
)
"""One row for each hour and each kind of call in it; nobody is named."""
