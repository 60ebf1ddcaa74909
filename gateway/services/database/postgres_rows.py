"""Fills the tables of a PostgreSQL database with rows from elsewhere, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from gateway.services.clients import need

__all__ = ["PostgresRows", "Unfitting"]

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
_TYPES = (
    "SELECT column_name, data_type FROM information_schema.columns "
    "WHERE table_schema = current_schema() AND table_name = %s"
)
_REFERENCES = (
    "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) "
    "FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
)
_COUNTERS = (
    "SELECT table_name, column_name, "
    "pg_get_serial_sequence(quote_ident(table_name), column_name) FROM information_schema.columns "
    "WHERE table_schema = current_schema() "
    "AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL"
)
_VERSIONS = "alembic_version_"


class Unfitting(Exception):
    """PostgreSQL does not take something; the message says what and where."""


class PostgresRows:
    """A database whose tables are there; a context manager.

    Args:
        address: its ``postgresql://`` URL.

    Raises:
        OSError: it cannot be reached.
        ValueError: the client is not installed.
    """

    def __init__(self, address: str) -> None:
        need("psycopg", "PostgreSQL")
        import psycopg

        url = "postgresql://" + address.partition("://")[2]
        try:
            # Texts of SQLite name no zone; they are of UTC.
            self._connection: Any = psycopg.connect(url, autocommit=True, options="-c timezone=UTC")
        except psycopg.OperationalError as error:
            reason = " ".join(str(error).split())
            raise OSError(f"PostgreSQL cannot be used: {reason}. Check that it is up.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def tables(self) -> set[str]:
        """The names of the tables."""
        return {name for (name,) in self._connection.execute(_TABLES).fetchall()}

    def filled(self) -> list[str]:
        """The tables that have rows, but for those that say which revision tables are at."""
        named = sorted(each for each in self.tables() if not each.startswith(_VERSIONS))
        return [name for name in named if self.count(name)]

    def count(self, table: str) -> int:
        """How many rows a table has."""
        query = _sql("SELECT count(*) FROM {}", table)
        return int(self._connection.execute(query).fetchone()[0])

    @contextmanager
    def filling(self) -> Iterator[None]:
        """One transaction, at whose end rows have what they refer to and counters go on behind.

        Raises:
            Unfitting: a row refers to what is not there.
        """
        with self._explained("the database"), self._connection.transaction():
            references = self._connection.execute(_REFERENCES).fetchall()
            for table, name, _ in references:
                self.run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            yield
            for table, name, definition in references:
                with self._explained(table):
                    self.run(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
            for table, column, counter in self._connection.execute(_COUNTERS).fetchall():
                query = "SELECT setval('{}', max({}), true) FROM {} HAVING max({}) IS NOT NULL"
                self._connection.execute(_sql(query, counter, column, table, column))

    def copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Copy rows into a table.

        Args:
            table: its name.
            columns: what the rows hold, in their order.
            rows: as SQLite gives them.

        Raises:
            Unfitting: the table lacks a column, or does not take a row.
        """
        types = dict(self._connection.execute(_TYPES, (table,)).fetchall())
        if missing := [each for each in columns if each not in types]:
            raise Unfitting(f"{table} has no column {missing[0]} in PostgreSQL.")
        forms = [_FORMS.get(types[column], _as_it_is) for column in columns]
        listed = ", ".join("{}" for _ in columns)
        statement = _sql(f"COPY {{}} ({listed}) FROM STDIN", table, *columns)
        with self._explained(table), self._connection.cursor().copy(statement) as target:
            for row in rows:
                target.write_row([form(one) for form, one in zip(forms, row, strict=True)])

    def run(self, statements: str) -> None:
        """Run statements that take no values."""
        self._connection.execute(statements)

    @contextmanager
    def _explained(self, where: str) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            reason = str(error).partition("\n")[0]
            raise Unfitting(f"PostgreSQL does not take {where}: {reason}.") from None


def _sql(statement: str, *names: str) -> Any:
    """A statement with names in their places; ``'{}'`` is one as a text."""
    from psycopg import sql

    parts = statement.split("'{}'")
    if len(parts) == 2:
        statement, (first, *names_left) = "{}".join(parts), names
        return sql.SQL(statement).format(sql.Literal(first), *map(sql.Identifier, names_left))
    return sql.SQL(statement).format(*map(sql.Identifier, names))


def _as_it_is(value: Any) -> Any:
    return value


def _unless_missing(form: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else form(value)


_FORMS = {
    "boolean": _unless_missing(bool),
    "text": _unless_missing(str),
    "character varying": _unless_missing(str),
    "bytea": _unless_missing(lambda value: value.encode() if isinstance(value, str) else value),
}
"""How SQLite's values become those of PostgreSQL's types, where they are not the same."""
