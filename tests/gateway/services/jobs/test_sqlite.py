"""The time that SQLite tells DBOS."""

import sqlite3
import time

import pytest

from gateway.services.jobs.sqlite import SUBSECONDS_SINCE, Connection


def test_milliseconds_since_1970_are_told_by_every_sqlite() -> None:
    connection = sqlite3.connect(":memory:", factory=Connection)
    connection.execute("CREATE TABLE t (at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")
    before = time.time()
    connection.execute("INSERT INTO t DEFAULT VALUES")
    (told,) = connection.execute("SELECT at FROM t").fetchone()
    connection.close()
    assert before - 0.002 <= told / 1000 <= time.time() + 0.002


@pytest.mark.skipif(
    sqlite3.sqlite_version_info >= SUBSECONDS_SINCE, reason="this SQLite has its own"
)
def test_no_other_call_is_answered_wrongly() -> None:
    connection = sqlite3.connect(":memory:", factory=Connection)
    with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception"):
        connection.execute("SELECT unixepoch('now')")
    connection.close()
