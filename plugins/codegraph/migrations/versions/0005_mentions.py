"""Names that no edge accounts for; all indexes are made anew, to contain them."""

import sqlalchemy as sa
from alembic import op

from plugins.codegraph.migrations.index_anew import index_anew

revision = "0005"
down_revision = "0004"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "codegraph_mentions",
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("path", PLAIN, primary_key=True),
        sa.Column("name", PLAIN, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sa.Column("line", sa.Integer, nullable=False),
        sa.Column("sites", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_codegraph_mentions_name", "codegraph_mentions", ["layer", "name"])
    index_anew()
