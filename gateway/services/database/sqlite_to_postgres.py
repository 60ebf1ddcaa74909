"""Copies everything in a portal's SQLite file into an empty PostgreSQL database.

PostgreSQL gets its tables by the owners' own migrations, as at a start, and the rows as they are,
all in one transaction. What is copied has to be at the newest revision in the file already, so
that both sides have the same tables. The file itself is only read.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gateway.services.database import migrations as revisions
from gateway.services.database.postgres_rows import PostgresRows, Unfitting

__all__ = ["CopyImpossible", "copy_to_postgres"]

_MARK = "alembic_version_"
"""How the tables begin that say at which revision an owner's tables are."""
OF_POSTGRES = "postgres_only.sql"
"""The file of an owner's migrations that fills what only PostgreSQL has, from what was copied."""
_TABLES = (
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)


class CopyImpossible(Exception):
    """Nothing was copied; the message says why and what to do."""


def copy_to_postgres(file: Path, address: str, owners: Mapping[str, Path]) -> dict[str, int]:
    """Copy all tables of a SQLite file that no portal holds; all of it or nothing.

    Args:
        file: the portal's ``porch.db``.
        address: the ``postgresql://`` URL of a database without a row in it.
        owners: where the migrations of each owner of tables lie, by its name.

    Returns:
        How many rows each table has, counted in PostgreSQL.

    Raises:
        CopyImpossible: the database is not empty or cannot be used, tables in the file are of
            an older or newer version or of nobody who is installed, or a row does not fit.
    """
    try:
        with closing(_opened(file)) as source, PostgresRows(address) as target:
            source.execute("BEGIN")
            tables = [name for (name,) in source.execute(_TABLES)]
            present = _present(source, tables, owners)
            if filled := target.filled():
                raise CopyImpossible(
                    f"The database that services.database names is not empty: {filled[0]} has rows."
                    " A portal has written to it; name an empty one, or drop what is there."
                )
            asyncio.run(_make_tables(address, file.parent, present))
            return _copied(source, target, tables, present)
    except (OSError, ValueError, sqlite3.Error, Unfitting) as error:
        raise CopyImpossible(str(error)) from None


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)


def _present(
    source: sqlite3.Connection, tables: list[str], owners: Mapping[str, Path]
) -> dict[str, Path]:
    """The owners of tables in a file, each with its migrations.

    Raises:
        CopyImpossible: one is not installed, or its tables are of another version.
    """
    present = {}
    for table in tables:
        owner = table.removeprefix(_MARK)
        if owner == table:
            continue
        if owner not in owners:
            raise CopyImpossible(
                f"The plugin {owner} has tables in the file and is not installed. Install it, so "
                "that they can be made in PostgreSQL."
            )
        query = f'SELECT version_num FROM "{table}"'  # noqa: S608  (a name of the schema)
        if {each for (each,) in source.execute(query)} != revisions.newest(owners[owner]):
            raise CopyImpossible(
                f"The tables of {owner} in the file are of another version. Let services.database "
                "say sqlite, start this version once, stop it, and try again."
            )
        present[owner] = owners[owner]
    return present


async def _make_tables(address: str, data_dir: Path, owners: Mapping[str, Path]) -> None:
    from gateway.services.database.service import DatabaseUnavailable, open_database

    service = open_database(address, data_dir)
    try:
        for owner, migrations in owners.items():
            await service.migrate(owner, migrations)
    except (DatabaseUnavailable, revisions.MigrationFailed) as error:
        raise CopyImpossible(str(error)) from None
    finally:
        await service.close()


def _copied(
    source: sqlite3.Connection,
    target: PostgresRows,
    tables: list[str],
    owners: Mapping[str, Path],
) -> dict[str, int]:
    names = [each for each in tables if not each.startswith(_MARK)]
    if foreign := sorted(set(names) - target.tables()):
        raise CopyImpossible(
            f"{', '.join(foreign)}: PostgreSQL would have no such table, as nothing that is "
            "installed makes it. Install what wrote it, or drop it from a copy of the file."
        )
    counts = {}
    with target.filling():
        for name in names:
            columns = [row[1] for row in source.execute(f'PRAGMA table_info("{name}")')]
            target.copy(name, columns, _rows(source, name, columns))
            (wanted,) = source.execute(f'SELECT count(*) FROM "{name}"').fetchone()  # noqa: S608
            counts[name] = target.count(name)
            if counts[name] != wanted:
                raise CopyImpossible(f"{name} has {wanted} rows, and {counts[name]} were copied.")
        for migrations in owners.values():
            if (own := migrations / OF_POSTGRES).exists():
                target.run(own.read_text("utf-8"))
    return counts


def _rows(source: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    listed = ", ".join(f'"{column}"' for column in columns)
    # The cursor itself: a generator around it would outlive the connection where a row is refused.
    return source.execute(f'SELECT {listed} FROM "{table}"')  # noqa: S608  (of the schema)
