"""Work for agents: items, who has taken them, and what was answered."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "porch_work_items",
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("kind", PLAIN, nullable=False),
        sa.Column("key", PLAIN, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("rows", sa.Text, nullable=False),
        sa.Column("context", sa.Text),
        sa.Column("extra", sa.Integer, nullable=False),
        sa.Column("refusals", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("published", sa.DateTime, nullable=False),
        sa.Column("changed", sa.DateTime, nullable=False),
        sa.UniqueConstraint("kind", "key", name="uq_porch_work_items"),
    )
    op.create_index("ix_porch_work_items_state", "porch_work_items", ["state", "published", "id"])
    op.create_table(
        "porch_work_leases",
        sa.Column(
            "item",
            PLAIN,
            sa.ForeignKey("porch_work_items.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("person", sa.Text, primary_key=True),
        sa.Column("until", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_work_leases_person", "porch_work_leases", ["person", "until"])
    _answers()


def _answers() -> None:
    op.create_table(
        "porch_work_answers",
        sa.Column("id", PLAIN, primary_key=True),
        sa.Column("item", PLAIN, nullable=False),
        sa.Column("kind", PLAIN, nullable=False),
        sa.Column("key", PLAIN, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_index("ix_porch_work_answers_item", "porch_work_answers", ["item", "outcome"])
    op.create_index("ix_porch_work_answers_person", "porch_work_answers", ["person"])
    op.create_index("ix_porch_work_answers_at", "porch_work_answers", ["at"])
    op.create_table(
        "porch_work_applied",
        sa.Column("answer", PLAIN, primary_key=True),
        sa.Column("at", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    for table in ("applied", "answers", "leases", "items"):
        op.drop_table(f"porch_work_{table}")
