"""The table of usage of models, in SQLAlchemy Core; apart, so that it is imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, Index, Table, Text

from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import UtcDateTime

model_calls = Table(
    "porch_model_calls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("ends_by", UtcDateTime, nullable=False),
    Column("person", Text),
    Column("plugin", Text, nullable=False),
    Column("source", Text),
    Column("operation", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("request_id", Text),
    Column("outcome", Text, nullable=False),
    Column("model_answered", Text),
    Column("tokens_in", BigInteger),
    Column("tokens_out", BigInteger),
    Column("tokens_cache_read", BigInteger),
    Column("tokens_cache_write", BigInteger),
    Column("cost_nano_usd", BigInteger),
    Column("price_list", Text),
    Column("price_date", Date),
    Column("latency_ms", BigInteger),
    Index("porch_model_calls_at", "at"),
    Index("porch_model_calls_person", "person", "at"),
)
"""One row for each request to a provider (``CallStart`` and ``CallEnd``).

It is written before the request, as ``started``, and completed once after it; then it changes no
more, but that ``person`` is taken out when that person's account is deleted.
"""
