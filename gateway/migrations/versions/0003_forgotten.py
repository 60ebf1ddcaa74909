"""Whose accounts were deleted, so that plugins erase what they keep of them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_forgotten",
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("porch_forgotten")
