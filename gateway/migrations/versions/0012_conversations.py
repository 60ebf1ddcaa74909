"""Conversations with the assistant, each of one person."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "porch_conversations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("begun", sa.DateTime, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_conversations_person", "porch_conversations", ["person", "changed"])
    op.create_index("ix_porch_conversations_changed", "porch_conversations", ["changed"])
    op.create_table(
        "porch_turns",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column(
            "conversation",
            sa.Text,
            sa.ForeignKey("porch_conversations.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("trouble", sa.Text),
        sa.Column("messages", sa.Text),
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("stop", sa.Boolean, nullable=False),
        sa.Column("begun", sa.DateTime, nullable=False),
        sa.Column("ended", sa.DateTime),
    )
    op.create_index(
        "ix_porch_turns_conversation", "porch_turns", ["conversation", "number"], unique=True
    )


def downgrade() -> None:
    op.drop_table("porch_turns")
    op.drop_table("porch_conversations")
