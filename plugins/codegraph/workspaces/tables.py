"""Metadata of workspaces beside their layers; imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table, Text

from gateway.toolkit.columns import Json, UtcDateTime

metadata = MetaData()

workspaces = Table(
    "codegraph_workspaces",
    metadata,
    Column("org", Text, primary_key=True),
    Column("repo", Text, primary_key=True),
    Column("person", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("base_sha", Text, nullable=False),
    Column("layer", BigInteger),
    Column("files", Json, nullable=False),
    Column("conflicts", Json, nullable=False),
    Column("synced", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime, nullable=False),
)
"""One row per person, repository and branch; ``layer`` is null if nothing differs from the index. A
person's questions are answered with the row that was synced last."""
