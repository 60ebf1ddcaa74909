"""Batches of writes, and what becomes of each of their entries."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "memory_batches",
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("person", PLAIN, nullable=False),
        sa.Column("acting", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("goes_on", sa.Boolean, nullable=False),
        sa.Column("notifies", sa.Boolean, nullable=False),
        sa.Column("status", PLAIN, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("succeeded", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("pending", sa.Integer, nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("sent", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
    )
    op.create_index("ix_memory_batches_person", "memory_batches", ["person", "status"])
    op.create_index("ix_memory_batches_sent", "memory_batches", ["sent"])
    op.create_table(
        "memory_batch_entries",
        sa.Column("batch", PLAIN, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("entry", PLAIN, nullable=False),
        sa.Column("request", sa.Text),
        sa.Column("outcome", sa.Text),
        sa.Column("approval", sa.Text),
        sa.Column("error", sa.Text),
    )
