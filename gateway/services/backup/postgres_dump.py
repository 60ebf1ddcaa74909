"""PostgreSQL in a backup: dumped and put back by its own programs, counted at the same instant."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.services.clients import need

if TYPE_CHECKING:
    from sqlalchemy import URL

__all__ = ["counts", "dump", "is_empty", "put_back"]

_TABLES = """
SELECT schemaname, tablename FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
"""
_LONGEST_REASON_CHARACTERS = 500


def dump(address: str, file: Path) -> dict[str, int]:
    """Dump a database into a file, as of one instant.

    Args:
        address: the database's ``postgresql://`` URL.
        file: the file to write, in ``pg_dump``'s own format.

    Returns:
        How many rows each table had at that instant.

    Raises:
        ValueError: ``pg_dump`` or the client is missing, or it failed; the message says why.
        OSError: the server cannot be reached.
    """
    with _connected(address) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        (snapshot,) = connection.execute("SELECT pg_export_snapshot()").fetchone()
        rows = _counts(connection)
        options = ("--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}")
        _run("pg_dump", address, (*options, f"--file={file}"))
    return rows


def put_back(address: str, file: Path) -> None:
    """Put a dump into an empty database, all of it or nothing; raises as :func:`dump`."""
    options = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
    _run("pg_restore", address, (*options, str(file)))


def is_empty(address: str) -> bool:
    """Whether a database has no table; raises as :func:`dump`."""
    with _connected(address) as connection:
        return connection.execute(_TABLES).fetchone() is None


def counts(address: str) -> dict[str, int]:
    """How many rows each table has; raises as :func:`dump`."""
    with _connected(address) as connection:
        return _counts(connection)


def _counts(connection: Any) -> dict[str, int]:
    from psycopg import sql

    found = {}
    for schema, table in connection.execute(_TABLES).fetchall():
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, table))
        found[f"{schema}.{table}"] = int(connection.execute(query).fetchone()[0])
    return found


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    need("psycopg", "PostgreSQL")
    import psycopg

    url = _url(address).render_as_string(hide_password=False)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection
    except psycopg.OperationalError as error:
        reason = " ".join(str(error).split())
        raise OSError(f"PostgreSQL cannot be used: {reason}. Check that it is up.") from None


def _url(address: str) -> URL:
    from sqlalchemy import make_url

    return make_url("postgresql://" + address.partition("://")[2])


def _run(program: str, address: str, options: Sequence[str]) -> None:
    """Run one of PostgreSQL's programs; the password is told by the environment, never listed."""
    if shutil.which(program) is None:
        raise ValueError(
            f"{program} is not here. Install PostgreSQL's client programs (postgresql-client) of "
            f"the server's version, or run {program} where they are, and copy the data directory."
        )
    url = _url(address)
    bare = url.set(password=None).render_as_string()
    environment = dict(os.environ)
    if url.password:
        environment["PGPASSWORD"] = str(url.password)
    command = (program, f"--dbname={bare}", *options)
    done = subprocess.run(  # noqa: S603  (a fixed program, no shell)
        command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = " ".join(done.stderr.split())[:_LONGEST_REASON_CHARACTERS]
        raise ValueError(f"{program} failed: {reason}")
