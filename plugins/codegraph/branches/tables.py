"""Metadata of branches beside their layers; imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

from gateway.toolkit.columns import Json, UtcDateTime

metadata = MetaData()

branches = Table(
    "codegraph_branches",
    metadata,
    Column("org", Text, primary_key=True),
    Column("repo", Text, primary_key=True),
    Column("branch", Text, primary_key=True),
    Column("layer", BigInteger, nullable=False),
    Column("commit", Text, nullable=False),
    Column("base", BigInteger, nullable=False),
    Column("base_generation", Integer, nullable=False),
    Column("base_commit", Text, nullable=False),
    Column("files", Json, nullable=False),
    Column("checked", UtcDateTime, nullable=False),
    Column("used", UtcDateTime, nullable=False),
    Column("pushed", UtcDateTime),
)
"""One row per repository and branch that has a layer. ``checked`` is when it was looked where the
branch is, ``pushed`` when it was told that it moved, ``used`` when somebody asked about it."""
