"""Usage by the hour: how many calls of an item at a tier ended how, and how long they took."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SLOTS = 15


def upgrade() -> None:
    op.create_table(
        "porch_usage",
        sa.Column("hour", sa.DateTime, primary_key=True),
        sa.Column("plugin", sa.Text, primary_key=True),
        sa.Column("item", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("tier", sa.Text, primary_key=True),
        sa.Column("outcome", sa.Text, primary_key=True),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.Column("milliseconds", sa.Float, nullable=False),
        sa.Column("bytes_out", sa.BigInteger, nullable=False),
        *(sa.Column(f"within_{n}", sa.BigInteger, nullable=False) for n in range(SLOTS)),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("porch_usage")
