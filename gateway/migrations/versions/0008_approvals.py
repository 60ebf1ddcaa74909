"""Requests for a person's yes before a tool runs, and what people said to them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_approvals",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("arguments", sa.Text),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("quorum", sa.Integer, nullable=False),
        sa.Column("own", sa.Boolean, nullable=False),
        sa.Column("in_client", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("asked", sa.DateTime, nullable=False),
        sa.Column("expires", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
        sa.Column("note", sa.Text),
        sa.Column("run", sa.Text),
        sa.Column("accounts", sa.Text),
    )
    op.create_index("ix_porch_approvals_call", "porch_approvals", ["person", "digest", "state"])
    op.create_index("ix_porch_approvals_state", "porch_approvals", ["state", "expires"])
    op.create_index("ix_porch_approvals_ended", "porch_approvals", ["ended"])
    op.create_table(
        "porch_approval_votes",
        sa.Column(
            "approval",
            sa.Text,
            sa.ForeignKey("porch_approvals.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("yes", sa.Boolean, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
        sa.Column("accounts", sa.Text),
    )


def downgrade() -> None:
    op.drop_table("porch_approval_votes")
    op.drop_table("porch_approvals")
