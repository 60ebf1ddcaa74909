"""The state of work on repositories, and the log of removals."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "codegraph_work",
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False, server_default=""),
        sa.Column("until", sa.DateTime),
        sa.Column("requested", sa.DateTime),
        sa.Column("started", sa.DateTime),
        sa.Column("finished", sa.DateTime),
        sa.Column("done", sa.Integer, nullable=False, server_default="0"),
        sa.Column("total", sa.Integer, nullable=False, server_default="0"),
        sa.Column("message", sa.Text, nullable=False, server_default=""),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
        sa.Column("summary", sa.Text),
    )
    op.create_table(
        "codegraph_deletions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("removed_by", sa.Text),
        sa.Column("requested", sa.DateTime, nullable=False),
        sa.Column("tried", sa.DateTime),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("completed", sa.DateTime),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
    )
    op.create_index("ix_codegraph_deletions_open", "codegraph_deletions", ["completed"])
