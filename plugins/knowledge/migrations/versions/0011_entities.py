"""Memory: what entries name, by which one leads to another."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from plugins.knowledge.memory.algorithms.entities import entities_in

revision = "0011"
down_revision = "0010"

PLAIN = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
ENTRIES = sa.table("memory_entries", *map(sa.column, ("number", "content", "metadata", "deleted")))
ENTITIES = sa.table("memory_entities", *map(sa.column, ("entity", "entry")))
AT_ONCE = 200


def upgrade() -> None:
    op.create_table(
        "memory_entities",
        sa.Column("entity", PLAIN, nullable=False),
        sa.Column("entry", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("entity", "entry"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_memory_entities_entry", "memory_entities", ["entry"])
    connection, last = op.get_bind(), 0
    while True:
        page = sa.select(ENTRIES).where(ENTRIES.c.number > last, ENTRIES.c.deleted.is_(None))
        rows = connection.execute(page.order_by(ENTRIES.c.number).limit(AT_ONCE)).all()
        if not rows:
            return
        named = [
            {"entity": entity, "entry": row.number}
            for row in rows
            for entity in sorted(_named(row.content, json.loads(row.metadata)))
        ]
        if named:
            connection.execute(sa.insert(ENTITIES), named)
        last = rows[-1].number


def _named(content: str, said: dict[str, Any]) -> frozenset[str]:
    """As ``Record.text`` said when this was written."""
    parts = (said.get("title"), said.get("description"), content)
    return entities_in("\n".join(part for part in parts if part), said.get("tags") or ())
