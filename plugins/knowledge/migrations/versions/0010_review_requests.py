"""Memory: for which documents people were asked to look."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "memory_review_requests",
        sa.Column("document", PLAIN, primary_key=True),
        sa.Column("cause", PLAIN, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_index("ix_memory_review_requests_at", "memory_review_requests", ["at"])
