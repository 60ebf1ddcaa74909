"""Up to which generation what changed was judged at once, and how SQLite finds names."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

# Rows in all, of a layer, and of a layer and one value of the second column. Where nothing is
# known, SQLite takes a layer for ten rows, and reads hundreds of thousands. ANALYZE would see empty
# tables now, and connections that are open would not hear of what it finds later.
_BY_INDEX, _BY_PATH = "300000 30000 10", "300000 30000 50"
_TABLES = (
    ("codegraph_mentions", "ix_codegraph_mentions_name"),
    ("codegraph_unresolved", "ix_codegraph_unresolved_name"),
    ("codegraph_endpoints", "ix_codegraph_endpoints_entity"),
)


def upgrade() -> None:
    op.add_column("codegraph_justified", sa.Column("followed", sa.Integer))
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute("ANALYZE codegraph_mentions")  # makes the table of statistics
    told = sa.table("sqlite_stat1", sa.column("tbl"), sa.column("idx"), sa.column("stat"))
    for table, index in _TABLES:
        op.execute(told.delete().where(told.c.tbl == table))
        rows = (index, _BY_INDEX), (table, _BY_PATH)
        op.bulk_insert(told, [{"tbl": table, "idx": idx, "stat": stat} for idx, stat in rows])
