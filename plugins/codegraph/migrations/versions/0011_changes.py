"""What changed with each index."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "codegraph_updates",
        sa.Column("id", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("layer", sa.BigInteger, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("former_layer", sa.BigInteger),
        sa.Column("commit", sa.Text, nullable=False),
        sa.Column("former_commit", sa.Text, nullable=False),
        sa.Column("branch", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("cascade", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_codegraph_updates_repo", "codegraph_updates", ["org", "repo", "id"])
    op.create_table(
        "codegraph_changes",
        sa.Column("update", sa.BigInteger, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("former_path", PLAIN, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
