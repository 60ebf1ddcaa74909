"""The table of health reports; imported late."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, Table, Text

from gateway.toolkit.columns import Json, UtcDateTime

metadata = MetaData()

reports = Table(
    "codegraph_health",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("layer", BigInteger, primary_key=True),
    Column("org", Text, nullable=False),
    Column("commit", Text),
    Column("made", UtcDateTime, nullable=False),
    Column("score", Integer, nullable=False),
    Column("counts", Json, nullable=False),
    Column("report", Json, nullable=False),
    Index("ix_codegraph_health_made", "repo", "made"),
)
"""One row per full index: the report (``health/report.py``), its score, and the number of findings
by section."""
