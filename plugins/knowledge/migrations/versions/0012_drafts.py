"""Drafts of pages."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "knowledge_drafts",
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("person", PLAIN, nullable=False),
        sa.Column("source", PLAIN, nullable=False),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("slot", PLAIN, unique=True),
        sa.Column("document", PLAIN, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("tier", PLAIN, nullable=False),
        sa.Column("state", PLAIN, nullable=False),
        sa.Column("proposal", sa.Text, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("pushed", sa.Integer, nullable=False),
        sa.Column("upon", PLAIN),
        sa.Column("tried", sa.Text, nullable=False),
        sa.Column("signed", sa.Text, nullable=False),
        sa.Column("number", sa.Integer),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("remarks", sa.Text, nullable=False),
        sa.Column("wants_changes", sa.Boolean, nullable=False),
        sa.Column("conflicts", sa.Boolean, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        sa.Column("looked", sa.DateTime),
        sa.Column("lease", sa.DateTime),
    )
    op.create_index("ix_knowledge_drafts_person", "knowledge_drafts", ["person"])
    op.create_index("ix_knowledge_drafts_state", "knowledge_drafts", ["state"])
