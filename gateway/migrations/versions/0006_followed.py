"""How far the logs of each chain were read that decide roles."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "porch_followed",
        sa.Column("chain", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("turn", NUMBER, nullable=False),
        sa.Column("holder", sa.Text),
        sa.Column("block", NUMBER),
        sa.Column("logs", sa.Text, nullable=False),
        sa.Column("heard", sa.DateTime),
    )


def downgrade() -> None:
    op.drop_table("porch_followed")
