"""What each version of an item said, and the files of cards' versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what is kept; of versions that there are, nothing is known."""
    op.add_column("playbook_revisions", sa.Column("content", sa.Text))
    op.create_table(
        "playbook_revision_files",
        sa.Column("skill", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
    )
    op.create_index("ix_playbook_revision_files_digest", "playbook_revision_files", ["digest"])
