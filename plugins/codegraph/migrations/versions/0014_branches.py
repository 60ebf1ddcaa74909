"""Other branches than the indexed one."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "codegraph_branches",
        sa.Column("org", sa.Text, primary_key=True),
        sa.Column("repo", sa.Text, primary_key=True),
        sa.Column("branch", sa.Text, primary_key=True),
        sa.Column("layer", sa.BigInteger, nullable=False),
        sa.Column("commit", sa.Text, nullable=False),
        sa.Column("base", sa.BigInteger, nullable=False),
        sa.Column("base_generation", sa.Integer, nullable=False),
        sa.Column("base_commit", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("checked", sa.DateTime, nullable=False),
        sa.Column("used", sa.DateTime, nullable=False),
        sa.Column("pushed", sa.DateTime),
    )
