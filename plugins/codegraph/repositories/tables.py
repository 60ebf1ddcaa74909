"""The state of work on repositories, and the log of removals; imported late."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, MetaData, Table, Text

from gateway.toolkit.columns import Json, UtcDateTime

metadata = MetaData()

work = Table(
    "codegraph_work",
    metadata,
    Column("repo", Text, primary_key=True),
    Column("holder", Text, nullable=False, server_default=""),
    Column("until", UtcDateTime),
    Column("requested", UtcDateTime),
    Column("started", UtcDateTime),
    Column("finished", UtcDateTime),
    Column("done", Integer, nullable=False, server_default="0"),
    Column("total", Integer, nullable=False, server_default="0"),
    Column("message", Text, nullable=False, server_default=""),
    Column("error", Text, nullable=False, server_default=""),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("summary", Json),
)
"""One row per repository. ``holder`` has the lease ``until`` then. ``requested`` is when a still
pending index was requested; ``error`` is why the last one failed."""

deletions = Table(
    "codegraph_deletions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("repo", Text, nullable=False),
    Column("org", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("removed_by", Text),
    Column("requested", UtcDateTime, nullable=False),
    Column("tried", UtcDateTime),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("completed", UtcDateTime),
    Column("counts", Json, nullable=False),
    Column("error", Text, nullable=False, server_default=""),
    Index("ix_codegraph_deletions_open", "completed"),
)
"""The log of removals (kap10, "24-Hour Deletion SLA"); entries outlive the repositories."""
