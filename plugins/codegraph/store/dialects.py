"""Bulk operations that differ between SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Table,
    delete,
    select,
    tuple_,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import is_postgres


async def insert_rows(
    connection: AsyncConnection, table: Table, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows in the driver's fastest way, without converting values.

    Args:
        connection: a transaction in which a statement has already run.
        table: the table.
        columns: the columns of each row, in order.
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
    # All names come from the plugin's own tables.
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608
    await connection.exec_driver_sql(statement, [tuple(row) for row in rows])


async def delete_some(
    connection: AsyncConnection, table: Table, condition: ColumnElement[bool], most: int
) -> int:
    """Delete at most ``most`` rows that meet a condition; returns how many were deleted."""
    key = list(table.primary_key.columns)
    chosen = select(*key).where(condition).limit(most)
    found = await connection.execute(delete(table).where(tuple_(*key).in_(chosen)))
    return int(found.rowcount)
