"""The audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("person", sa.Text),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("surface", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("milliseconds", sa.Float, nullable=False),
        sa.Column("bytes_out", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_porch_audit_at", "porch_audit", ["at"])


def downgrade() -> None:
    op.drop_table("porch_audit")
