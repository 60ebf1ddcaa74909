"""Payments by Stripe: what was bought by whom, subscriptions, overage, and events of webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TABLES = ("events", "customers", "pages", "top_ups", "subscriptions", "overages")


def upgrade() -> None:
    _events()
    _customers()
    _top_ups()
    _subscriptions()
    op.create_table(
        "porch_payment_overages",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("month", sa.Text, primary_key=True),
        sa.Column("told", sa.BigInteger, nullable=False),
        sa.Column("telling", sa.BigInteger),
        sa.Column("since", sa.DateTime),
    )


def _events() -> None:
    op.create_table(
        "porch_payment_events",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("received", sa.DateTime, nullable=False),
        sa.Column("done", sa.DateTime),
    )


def _customers() -> None:
    op.create_table(
        "porch_payment_customers",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("customer", sa.Text, nullable=False),
    )
    op.create_table(
        "porch_payment_pages",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("until", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_payment_pages_person", "porch_payment_pages", ["person", "until"])


def _top_ups() -> None:
    op.create_table(
        "porch_payment_top_ups",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("paid", sa.BigInteger, nullable=False),
        sa.Column("refunded", sa.BigInteger, nullable=False),
        sa.Column("taken_back", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_porch_payment_top_ups_person", "porch_payment_top_ups", ["person", "at"])


def _subscriptions() -> None:
    op.create_table(
        "porch_payment_subscriptions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("turn", sa.BigInteger, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("customer", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("seats", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("renews", sa.DateTime),
        sa.Column("ends", sa.DateTime),
    )
    op.create_index(
        "ix_porch_payment_subscriptions_account",
        "porch_payment_subscriptions",
        ["account", "created"],
    )


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(f"porch_payment_{table}")
