"""The tables of what indexes changed; imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, SmallInteger, Table, Text

from gateway.toolkit.columns import NUMBER, PLAIN, Json, UtcDateTime
from plugins.codegraph.store.tables import metadata, tenant

updates = Table(
    "codegraph_updates",
    metadata,
    Column("id", NUMBER, primary_key=True, autoincrement=True),
    *tenant(),
    Column("at", UtcDateTime, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("layer", BigInteger, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("former_layer", BigInteger),
    Column("commit", Text, nullable=False),
    Column("former_commit", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("counts", Json, nullable=False),
    Column("cascade", Json),
    Index("ix_codegraph_updates_repo", "org", "repo", "id"),
    sqlite_autoincrement=True,
)
"""Every index that changed something, and how much (``changes/log.py``). ``cascade`` is what came
of it for what calls the changed code; null until that is justified."""

changes = Table(
    "codegraph_changes",
    metadata,
    Column("update", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    *tenant(),
    Column("kind", SmallInteger, nullable=False),
    Column("path", PLAIN, nullable=False),
    Column("former_path", PLAIN, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""What became of each entity in it; ``data`` is all of that, packed (``changes/told.py``)."""

OF_CHANGES = (changes, updates)
"""Both, in the order in which they are deleted; no sweep touches them."""
