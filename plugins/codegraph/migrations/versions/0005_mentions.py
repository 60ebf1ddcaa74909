"""Names that no edge accounts for; all indexes are made anew, to contain them."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_INDEX_ANEW = (
    "UPDATE codegraph_layers SET state = 'dead', ended = :now",
    "UPDATE codegraph_repositories SET layer = NULL, embedded_layer = NULL, "
    "embedded_generation = NULL",
    "DELETE FROM codegraph_workspaces",
    "UPDATE codegraph_work SET requested = :now, failures = 0 WHERE repo IN "
    "(SELECT id FROM codegraph_repositories WHERE state = 'active')",
)


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
    now = datetime.now(UTC).replace(tzinfo=None)
    for statement in _INDEX_ANEW:
        text = sa.text(statement)
        if ":now" in statement:
            text = text.bindparams(sa.bindparam("now", now, sa.DateTime))
        op.execute(text)
