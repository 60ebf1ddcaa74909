"""Memory: the indexes of when entries expire or were forgotten hold those that do, or were."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for name in ("expires", "deleted"):
        index, having = f"ix_memory_entries_{name}", sa.text(f"{name} IS NOT NULL")
        op.drop_index(index, "memory_entries")
        op.create_index(
            index, "memory_entries", [name], sqlite_where=having, postgresql_where=having
        )
