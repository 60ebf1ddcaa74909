"""The tables of budgets, in SQLAlchemy Core; imported late, as the audit log's is."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text

from gateway.identity.stores.tables import Shown
from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import UtcDateTime

budgets = Table(
    "porch_budgets",
    metadata,
    Column("account", Text, primary_key=True),
    Column("month", Text, primary_key=True),
    Column("spent", BigInteger, nullable=False),
    Column("reconciled", UtcDateTime),
)
"""What each account has spent in a month; ``reconciled``: when that was held against the calls."""

budget_calls = Table(
    "porch_budget_calls",
    metadata,
    Column("call", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("month", Text, nullable=False),
    Column("held", BigInteger, nullable=False),
    Column("until", UtcDateTime, nullable=False),
    Column("cost", BigInteger),
    Index("ix_porch_budget_calls_account", "account", "month", "cost"),
    Index("ix_porch_budget_calls_month", "month", "account"),
)
"""Whose budget each call of ``porch_model_calls`` counts against, by the call's id.

A call holds what it is expected to cost until it has ended; then ``cost`` is what it did cost.
"""

credits = Table(
    "porch_budget_credits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("month", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("granted", UtcDateTime, nullable=False),
    Column("by", Text, nullable=False),
    Column("note", Shown, nullable=False),
    Index("ix_porch_budget_credits_account", "account", "month"),
)
"""What was granted to accounts on demand, each for one month; rows are only added."""
