"""Budgets of language models: what accounts spend in a month, by which calls, and their credits."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_budgets",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("month", sa.Text, primary_key=True),
        sa.Column("spent", sa.BigInteger, nullable=False),
        sa.Column("reconciled", sa.DateTime),
    )
    op.create_table(
        "porch_budget_calls",
        sa.Column("call", sa.Text, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("held", sa.BigInteger, nullable=False),
        sa.Column("until", sa.DateTime, nullable=False),
        sa.Column("cost", sa.BigInteger),
    )
    op.create_index(
        "ix_porch_budget_calls_account", "porch_budget_calls", ["account", "month", "cost"]
    )
    op.create_index("ix_porch_budget_calls_month", "porch_budget_calls", ["month", "account"])
    op.create_table(
        "porch_budget_credits",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("granted", sa.DateTime, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("ix_porch_budget_credits_account", "porch_budget_credits", ["account", "month"])


def downgrade() -> None:
    op.drop_table("porch_budget_credits")
    op.drop_table("porch_budget_calls")
    op.drop_table("porch_budgets")
