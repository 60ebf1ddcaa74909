"""Memory: when entries hold, who verified them, and how they go together."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    for name in ("event_at", "valid_from", "valid_until"):
        op.add_column("memory_entries", sa.Column(name, sa.DateTime))
    op.add_column("memory_entries", sa.Column("verified", sa.Text))
    challenged = sa.Column("challenged", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("memory_entries", challenged)
    op.add_column("memory_entries", sa.Column("follows", NUMBER))
    having = sa.text("follows IS NOT NULL")
    op.create_index(
        "ix_memory_entries_follows",
        "memory_entries",
        ["follows"],
        sqlite_where=having,
        postgresql_where=having,
    )
    op.create_table(
        "memory_relations",
        sa.Column("entry", PLAIN, primary_key=True),
        sa.Column("target", PLAIN, primary_key=True),
        sa.Column("kind", PLAIN, nullable=False),
        sa.Column("by", PLAIN, nullable=False),
        sa.Column("at", sa.DateTime, nullable=False),
    )
    op.create_index("ix_memory_relations_target", "memory_relations", ["target"])
    op.create_index("ix_memory_relations_kind", "memory_relations", ["kind", "at"])
