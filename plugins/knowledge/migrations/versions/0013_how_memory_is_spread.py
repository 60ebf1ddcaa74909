"""How SQLite finds entries of memory: what it is told of their tables."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

# Rows in all, then of one value of an index's first column, of one of its first two, and so on.
# Where nothing is known, SQLite takes a layer for ten rows: to look at forty entries by their ids
# it reads the whole layer. ANALYZE would see empty tables now.
_TOLD = {
    "memory_entries": {
        "sqlite_autoindex_memory_entries_1": "10000 1",
        "ix_memory_entries_layer": "10000 1250 50",
        "ix_memory_entries_owner": "10000 500 1",
    },
    "memory_words": {
        "memory_words": "250000 30000 10 1",
        "ix_memory_words_entry": "250000 25",
    },
    "memory_labels": {"memory_labels": "50000 5 1"},
    "memory_entities": {
        "memory_entities": "60000 3 1",
        "ix_memory_entities_entry": "60000 6",
    },
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    told = sa.table("sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat"))
    for table, indexes in _TOLD.items():
        op.execute(f"ANALYZE {table}")  # makes the table of statistics
        op.execute(told.delete().where(told.c.tbl == table))
        rows = [{"tbl": table, "idx": index, "stat": stat} for index, stat in indexes.items()]
        op.bulk_insert(told, rows)
    # Connections that are open read the statistics where they find that a table has changed.
    op.create_table("knowledge_told", sa.Column("none", sa.Integer))
    op.drop_table("knowledge_told")
