"""Routes and requests; all indexes are made anew, to contain them."""

import sqlalchemy as sa
from alembic import op

from plugins.codegraph.migrations.index_anew import index_anew

revision = "0007"
down_revision = "0006"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "codegraph_endpoints",
        sa.Column("layer", sa.BigInteger, primary_key=True),
        sa.Column("path", PLAIN, primary_key=True),
        sa.Column("line", sa.Integer, primary_key=True),
        sa.Column("entity", sa.BigInteger, primary_key=True),
        sa.Column("serves", sa.Boolean, primary_key=True),
        sa.Column("method", PLAIN, primary_key=True),
        sa.Column("template", PLAIN, primary_key=True),
        sa.Column("host", PLAIN, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("repo", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    columns = ["layer", "entity"]
    op.create_index("ix_codegraph_endpoints_entity", "codegraph_endpoints", columns)
    index_anew()
