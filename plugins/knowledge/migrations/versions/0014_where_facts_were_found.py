"""Memory: in which turn of a conversation an entry was found, as a number of its own."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_FROM = "from"


def upgrade() -> None:
    op.add_column("memory_entries", sa.Column("taken_from", NUMBER))
    having = sa.text("taken_from IS NOT NULL")
    op.create_index(
        "ix_memory_entries_taken_from",
        "memory_entries",
        ["taken_from"],
        sqlite_where=having,
        postgresql_where=having,
    )
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    """Note the turn of every entry that names it; its neighbours were other facts, not turns."""
    names = ("number", "id", "owner", "layer", "metadata", "follows", "taken_from")
    entries = sa.table("memory_entries", *map(sa.column, names))
    found = sa.select(entries.c.number, entries.c.owner, entries.c.metadata).where(
        entries.c.metadata.like(f'%"{_FROM}":%'), entries.c.layer != "episodic"
    )
    for row in list(connection.execute(found)):
        turn = (json.loads(row.metadata).get("custom") or {}).get(_FROM)
        own = (entries.c.id == turn, entries.c.owner == row.owner, entries.c.layer == "episodic")
        number = connection.scalar(sa.select(entries.c.number).where(*own))
        if number is not None:
            one = sa.update(entries).where(entries.c.number == row.number)
            connection.execute(one.values(taken_from=number, follows=None))
