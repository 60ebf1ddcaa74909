"""Where a workflow was copied from, and what people think of workflows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add both; of the workflows that there are, nothing is known."""
    op.add_column("playbook_workflows", sa.Column("origin", sa.Text))
    op.add_column("playbook_workflows", sa.Column("origin_version", sa.Integer))
    op.create_table(
        "playbook_ratings",
        sa.Column(
            "workflow",
            sa.Text,
            sa.ForeignKey("playbook_workflows.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("stars", sa.Integer, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_index("ix_playbook_ratings_person", "playbook_ratings", ["person"])
