"""Payments by a token: transfers to the portal's wallet, and how far they were read."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_payment_transfers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("chain", sa.BigInteger, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False),
        sa.Column("wallet", sa.Text, nullable=False),
        sa.Column("amount", sa.Text, nullable=False),
        sa.Column("worth", sa.BigInteger, nullable=False),
        sa.Column("seen", sa.DateTime, nullable=False),
        sa.Column("account", sa.Text),
        sa.Column("person", sa.Text),
        sa.Column("credited", sa.DateTime),
    )
    op.create_index("ix_porch_payment_transfers_wallet", "porch_payment_transfers", ["wallet"])
    op.create_table(
        "porch_payment_positions",
        sa.Column("source", sa.Text, primary_key=True),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("block", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("porch_payment_positions")
    op.drop_table("porch_payment_transfers")
