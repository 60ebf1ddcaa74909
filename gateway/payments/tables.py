"""The tables of payments, in SQLAlchemy Core; amounts are billionths of a dollar."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Table, Text

from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import UtcDateTime

events = Table(
    "porch_payment_events",
    metadata,
    Column("id", Text, primary_key=True),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("created", UtcDateTime, nullable=False),
    Column("received", UtcDateTime, nullable=False),
    Column("done", UtcDateTime),
)
"""Events that Stripe has sent; ``subject`` is the id of what each is about."""

customers = Table(
    "porch_payment_customers",
    metadata,
    Column("person", Text, primary_key=True),
    Column("customer", Text, nullable=False),
)
"""Which customer of Stripe's a person is."""

pages = Table(
    "porch_payment_pages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, nullable=False),
    Column("account", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("until", UtcDateTime, nullable=False),
    Index("ix_porch_payment_pages_person", "person", "until"),
)
"""Pages of Stripe's that were opened for people and wait for them."""

top_ups = Table(
    "porch_payment_top_ups",
    metadata,
    Column("id", Text, primary_key=True),
    Column("turn", BigInteger, nullable=False),
    Column("account", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("month", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("paid", BigInteger, nullable=False),
    Column("refunded", BigInteger, nullable=False),
    Column("taken_back", BigInteger, nullable=False),
    Index("ix_porch_payment_top_ups_person", "person", "at"),
)
"""Credits that were bought, by the id of the PaymentIntent; ``turn`` grows with every change."""

subscriptions = Table(
    "porch_payment_subscriptions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("turn", BigInteger, nullable=False),
    Column("account", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("seats", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("created", UtcDateTime, nullable=False),
    Column("renews", UtcDateTime),
    Column("ends", UtcDateTime),
    Index("ix_porch_payment_subscriptions_account", "account", "created"),
)
"""Subscriptions as Stripe had them last; ``turn`` grows with every look."""

overages = Table(
    "porch_payment_overages",
    metadata,
    Column("account", Text, primary_key=True),
    Column("month", Text, primary_key=True),
    Column("told", BigInteger, nullable=False),
    Column("telling", BigInteger),
    Column("since", UtcDateTime),
)
"""What Stripe was told that accounts have spent beyond their budgets, in cents.

``telling`` is what it is being told: written down before, so that after a crash it hears the same.
"""

transfers = Table(
    "porch_payment_transfers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("chain", BigInteger, nullable=False),
    Column("block", BigInteger, nullable=False),
    Column("wallet", Text, nullable=False),
    Column("amount", Text, nullable=False),
    Column("worth", BigInteger, nullable=False),
    Column("seen", UtcDateTime, nullable=False),
    Column("account", Text),
    Column("person", Text),
    Column("credited", UtcDateTime),
    Index("ix_porch_payment_transfers_wallet", "wallet"),
)
"""Transfers of the token to the receiver, by chain, transaction and index of the log.

``amount`` is in the token's smallest unit, which may have more digits than a column of numbers. One
whose wallet is not known waits; the row of one that was credited outlives who paid, without them,
so that it is never credited again.
"""

positions = Table(
    "porch_payment_positions",
    metadata,
    Column("source", Text, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("block", BigInteger, nullable=False),
)
"""From which block on, and up to which, each token's transfers were read."""
