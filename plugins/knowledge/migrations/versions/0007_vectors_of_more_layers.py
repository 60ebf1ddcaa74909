"""Memory: what happened and the rules are found by meaning too; upkeep makes their vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    entries = sa.table("memory_entries", sa.column("layer"), sa.column("embedded", sa.Boolean))
    more = entries.c.layer.in_(("episodic", "procedural"))
    op.execute(sa.update(entries).where(more).values(embedded=True))
