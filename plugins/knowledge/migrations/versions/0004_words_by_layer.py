"""Memory: the words of entries lie by layer, and SQLite keeps them in one tree."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.rename_table("memory_words", "memory_words_old")
    op.drop_index("ix_memory_words_entry", "memory_words_old")
    op.create_table(
        "memory_words",
        sa.Column("layer", PLAIN, nullable=False),
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("entry", NUMBER, nullable=False),
        sa.Column("weight", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("layer", "term", "entry", name="memory_words_by_layer"),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO memory_words SELECT e.layer, w.term, w.entry, w.weight "
        "FROM memory_words_old w JOIN memory_entries e ON e.number = w.entry"
    )
    op.create_index("ix_memory_words_entry", "memory_words", ["entry"])
    op.drop_table("memory_words_old")
    op.rename_table("memory_labels", "memory_labels_old")
    op.create_table(
        "memory_labels",
        sa.Column("entry", NUMBER, nullable=False),
        sa.Column("label", PLAIN, nullable=False),
        sa.PrimaryKeyConstraint("entry", "label", name="memory_labels_of_entries"),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO memory_labels SELECT entry, label FROM memory_labels_old")
    op.drop_table("memory_labels_old")
