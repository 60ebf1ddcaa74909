"""Why code exists: justifications, features, corrections, and what texts tell."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _by_layer()
    _by_repository()


def _by_layer() -> None:
    op.create_table(
        "codegraph_justifications",
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("key", sa.BigInteger, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("type", sa.SmallInteger, nullable=False),
        sa.Column("feature", PLAIN, nullable=False),
        sa.Column("technology", PLAIN, nullable=False),
        sa.Column("confidence", sa.SmallInteger, nullable=False),
        sa.Column("digest", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    columns = ["layer", "feature"]
    name = "ix_codegraph_justifications_feature"
    op.create_index(name, "codegraph_justifications", columns)
    op.create_table(
        "codegraph_features",
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("name", PLAIN, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "codegraph_justified",
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("rules", sa.Integer, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
    )


def _by_repository() -> None:
    op.create_table(
        "codegraph_signals",
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "codegraph_corrections",
        sa.Column("org", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("key", sa.BigInteger, primary_key=True),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("qualified", PLAIN, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("values", sa.Text, nullable=False),
    )
