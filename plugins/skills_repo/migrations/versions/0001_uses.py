"""How often each skill and agent profile is read, by day; nobody is named."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "skills_repo_uses",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("row", sa.Text, primary_key=True),
        sa.Column("uses", sa.BigInteger, nullable=False),
        sa.Column("people", sa.BigInteger, nullable=False),
    )
