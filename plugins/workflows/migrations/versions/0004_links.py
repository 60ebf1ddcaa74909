"""Links to workflows, which whoever has one may open until it ends."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add them; there are none yet."""
    op.create_table(
        "playbook_links",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column(
            "workflow",
            sa.Text,
            sa.ForeignKey("playbook_workflows.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("made", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
    )
    op.create_index("ix_playbook_links_digest", "playbook_links", ["digest"], unique=True)
    op.create_index("ix_playbook_links_workflow", "playbook_links", ["workflow"])
    op.create_index("ix_playbook_links_person", "playbook_links", ["person"])
