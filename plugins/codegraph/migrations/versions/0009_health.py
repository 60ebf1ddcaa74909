"""Health reports."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "codegraph_health",
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("commit", sa.Text),
        sa.Column("made", sa.DateTime, nullable=False),
        sa.Column("score", sa.Integer, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
    )
    op.create_index("ix_codegraph_health_made", "codegraph_health", ["repo", "made"])
