"""The record of what has been embedded; imported late."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, Table, Text

from gateway.toolkit.columns import PLAIN, Json

metadata = MetaData()

embedded = Table(
    "codegraph_embedded",
    metadata,
    Column("org", Text, primary_key=True),
    Column("repo", Text, primary_key=True),
    Column("path", PLAIN, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("mark", Text, nullable=False),
    Column("texts", Json, nullable=False),
)
"""One row per file whose entities have vectors: the digest of its bytes, the mark of its vectors
(``CodeVectors.mark``), and the digest of each entity's text by key."""
