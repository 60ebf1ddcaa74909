"""Calls of language models: who asked which model for what, what it counted and what it cost."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_model_calls",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("ends_by", sa.DateTime, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("plugin", sa.Text, nullable=False),
        sa.Column("source", sa.Text),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("request_id", sa.Text),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("model_answered", sa.Text),
        sa.Column("tokens_in", sa.BigInteger),
        sa.Column("tokens_out", sa.BigInteger),
        sa.Column("tokens_cache_read", sa.BigInteger),
        sa.Column("tokens_cache_write", sa.BigInteger),
        sa.Column("cost_nano_usd", sa.BigInteger),
        sa.Column("price_list", sa.Text),
        sa.Column("price_date", sa.Date),
        sa.Column("latency_ms", sa.BigInteger),
    )
    op.create_index("porch_model_calls_at", "porch_model_calls", ["at"])
    op.create_index("porch_model_calls_person", "porch_model_calls", ["person", "at"])


def downgrade() -> None:
    op.drop_table("porch_model_calls")
