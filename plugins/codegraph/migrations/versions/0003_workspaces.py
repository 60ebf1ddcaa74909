"""Workspaces (people's uncommitted work), and the record of what has vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "codegraph_workspaces",
        sa.Column("org", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("branch", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("base_sha", sa.Text, nullable=False),
        sa.Column("layer", sa.BigInteger),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("conflicts", sa.Text, nullable=False),
        sa.Column("synced", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
    )
    op.create_table(
        "codegraph_embedded",
        sa.Column("org", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("path", PLAIN, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("mark", sa.Text, nullable=False),
        sa.Column("texts", sa.Text, nullable=False),
    )
