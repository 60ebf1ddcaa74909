"""What SQLite and PostgreSQL do each in their own way: many values at once, and being alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Table,
    Text,
    any_,
    bindparam,
    delete,
    func,
    literal,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection


def is_postgres(connection: AsyncConnection) -> bool:
    """Whether a connection leads to PostgreSQL."""
    return connection.dialect.name == "postgresql"


def among(
    connection: AsyncConnection, column: Column[Any], values: Collection[Any]
) -> ColumnElement[bool]:
    """The condition that a column has one of many values.

    They travel as one value: a statement may have 32,766, and each of them costs.
    """
    value = given(connection, values)
    if is_postgres(connection):
        return column == any_(literal(value, _array(column)))
    return _in_json(column, literal(value))


def among_given(column: Column[Any], name: str, *, postgres: bool) -> ColumnElement[bool]:
    """The same for a statement that is made once: the values are its parameter, as ``given``."""
    if postgres:
        return column == any_(bindparam(name, type_=_array(column)))
    return _in_json(column, bindparam(name, type_=Text()))


def given(connection: AsyncConnection, values: Collection[Any]) -> Any:
    """Many values as one."""
    return list(values) if is_postgres(connection) else json.dumps(list(values))


def _array(column: Column[Any]) -> Any:
    return ARRAY(Text() if isinstance(column.type, Text) else BigInteger())


def _in_json(column: Column[Any], value: ColumnElement[Any]) -> ColumnElement[bool]:
    each = func.json_each(value).table_valued("value")
    return column.in_(select(each.c.value))


async def insert_rows(
    connection: AsyncConnection, table: Table, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows as the driver likes them best; none of their values is converted.

    Args:
        connection: a transaction in which a statement was run already.
        table: where.
        columns: what each row holds, in order.
        rows: the values.
    """
    if not rows:
        return
    if is_postgres(connection):
        raw: Any = (await connection.get_raw_connection()).driver_connection
        await raw.copy_records_to_table(table.name, records=rows, columns=list(columns))
        return
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    # The names are those of our own tables.
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608
    await connection.exec_driver_sql(statement, [tuple(row) for row in rows])


async def delete_some(
    connection: AsyncConnection, table: Table, condition: ColumnElement[bool], most: int
) -> int:
    """Delete rows that meet a condition, up to so many; how many there were."""
    key = list(table.primary_key.columns)
    chosen = select(*key).where(condition).limit(most)
    found = await connection.execute(delete(table).where(tuple_(*key).in_(chosen)))
    return int(found.rowcount)


async def alone(connection: AsyncConnection, key: str) -> None:
    """Wait until no other transaction holds the key, and hold it to the end of this one.

    A writing transaction of SQLite is alone anyway.
    """
    if is_postgres(connection):
        digest = hashlib.sha256(f"codegraph {key}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        await connection.execute(select(func.pg_advisory_xact_lock(number)))
