"""Migrations that run once in a process: later databases get their statements alone.

Alembic takes a tenth of a second to bring an empty database to the newest revision, most of it for
finding out what to do. For a portal in memory that is as long as everything else takes.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.services.database import migrations as revisions

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["replayed_migrations"]

_READS = re.compile(r"\s*(SELECT|PRAGMA)\b", re.IGNORECASE)

_Key = tuple[str, Path, str, frozenset[str]]
_Statement = tuple[str, Any, bool]
"""Its text, its values, and whether these are several sets of values."""

_statements: dict[_Key, list[_Statement]] = {}
_alembic = revisions.upgrade


@contextmanager
def replayed_migrations() -> Generator[None]:
    """Let databases that are still empty be migrated by what Alembic did to the first such one.

    One that has some revisions already is migrated by Alembic, as ever.
    """
    before = revisions.upgrade
    revisions.upgrade = _upgrade
    try:
        yield
    finally:
        revisions.upgrade = before


def _upgrade(connection: Connection, migrations: Path, version_table: str) -> None:
    if revisions.recorded(connection, version_table):
        _alembic(connection, migrations, version_table)
        return
    newest = frozenset(revisions.newest(migrations))
    key = (connection.dialect.name, migrations, version_table, newest)
    if key not in _statements:
        _statements[key] = _recorded(connection, migrations, version_table)
        return
    for statement, values, is_many in _statements[key]:
        cursor = connection.connection.cursor()
        (cursor.executemany if is_many else cursor.execute)(statement, values)
        cursor.close()


def _recorded(connection: Connection, migrations: Path, version_table: str) -> list[_Statement]:
    """Run Alembic, and note the statements by which it changed something."""
    from sqlalchemy import event

    noted: list[_Statement] = []

    def note(
        _conn: Any, _cursor: Any, statement: str, values: Any, _context: Any, is_many: bool
    ) -> None:
        if not _READS.match(statement):
            noted.append((statement, values, is_many))

    event.listen(connection, "before_cursor_execute", note)
    try:
        _alembic(connection, migrations, version_table)
    finally:
        event.remove(connection, "before_cursor_execute", note)
    return noted
