"""What models and members' agents say of entities, and the runs in which they are asked."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "codegraph_opinions",
        sa.Column("org", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("key", sa.BigInteger, primary_key=True),
        sa.Column("path", PLAIN, nullable=False),
        sa.Column("qualified", PLAIN, nullable=False),
        sa.Column("kind", sa.SmallInteger, nullable=False),
        sa.Column("code", sa.BigInteger, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("refused", sa.Text, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "codegraph_opinion_runs",
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("org", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("everything", sa.Boolean, nullable=False),
        sa.Column("requested", sa.DateTime, nullable=False),
        sa.Column("layer", sa.BigInteger, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("levels", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )
