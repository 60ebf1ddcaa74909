"""SQLite as DBOS needs it, where the one that Python brings is older."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

JOBS_FILE = "jobs.db"
"""The file of DBOS's tables in the data directory."""

SUBSECONDS_SINCE = (3, 42)
"""The first SQLite whose ``unixepoch`` knows the modifier ``subsec``."""


class Connection(sqlite3.Connection):
    """A connection that answers ``unixepoch('subsec')`` with every version of SQLite.

    From Python 3.12 on DBOS takes its timestamps from that call; an older SQLite, such as
    Debian 12's, answers it with NULL, and no job could be queued.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if sqlite3.sqlite_version_info < SUBSECONDS_SINCE:
            self.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: str) -> float:
    """Seconds since 1970, to the millisecond."""
    if modifier != "subsec":
        raise ValueError(f"unixepoch({modifier!r}) is none of DBOS's calls.")
    return round(time.time(), 3)


def database_url(address: str, data_dir: Path) -> str:
    """Where DBOS has its tables, as SQLAlchemy takes it: that file, or a PostgreSQL server."""
    if address == "sqlite":
        return f"sqlite:///{data_dir / JOBS_FILE}"
    return "postgresql://" + address.partition("://")[2]  # DBOS names the driver itself
