"""What SQLite and PostgreSQL do each in their own way: exclusive locks, upserts, many values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Table,
    Text,
    any_,
    bindparam,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

BATCH_SIZE = 400
"""Values that a statement is given at once; both databases allow more."""

T = TypeVar("T")


def is_postgres(connection: AsyncConnection) -> bool:
    """Whether a connection leads to PostgreSQL."""
    return connection.dialect.name == "postgresql"


def lock_number(namespace: str, key: str) -> int:
    """The number by which PostgreSQL knows a lock.

    Args:
        namespace: whose lock it is, such as the plugin's name: all plugins may share one
            database. The portal's own locks have none.
        key: what the lock is about, such as a person's id.
    """
    name = f"{namespace} {key}" if namespace else key
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


async def exclusive(connection: AsyncConnection, lock: int, *, shared: bool = False) -> None:
    """Wait until no other transaction holds a lock, and hold it to the end of this one.

    Every statement that follows sees what was committed under the lock before. SQLite has one
    writer at a time, so that nothing needs to be done there.

    Args:
        connection: one of ``Database.begin``.
        lock: its :func:`lock_number`. Replicas of two versions exclude each other during an
            upgrade only if the number stays the same.
        shared: whether others that say so too may hold it at the same time.
    """
    if is_postgres(connection):
        take = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        await connection.execute(select(take(lock)))


def insert_into(connection: AsyncConnection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An ``INSERT`` with ``on_conflict_do_nothing`` and ``on_conflict_do_update`` (an upsert)."""
    return postgresql.insert(table) if is_postgres(connection) else sqlite.insert(table)


def batches(values: Sequence[T], size: int = BATCH_SIZE) -> list[Sequence[T]]:
    """Values in parts that one statement takes, in their order."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def among(
    connection: AsyncConnection, column: Column[Any], values: Collection[Any]
) -> ColumnElement[bool]:
    """The condition that a column has one of many values.

    They travel as one parameter: a statement may have 32,766, and each of them costs.

    Args:
        connection: what the statement runs on.
        column: of text or whole numbers.
        values: any number of them.
    """
    value = as_parameter(connection, values)
    if is_postgres(connection):
        return column == any_(literal(value, _array(column)))
    return _in_json(column, literal(value))


def among_parameter(column: Column[Any], name: str, *, postgres: bool) -> ColumnElement[bool]:
    """The same for a statement that is built once and run often.

    Args:
        column: of text or whole numbers.
        name: the parameter that gets :func:`as_parameter` of the values in each run.
        postgres: whether the statement is for PostgreSQL.
    """
    if postgres:
        return column == any_(bindparam(name, type_=_array(column)))
    return _in_json(column, bindparam(name, type_=Text()))


def as_parameter(connection: AsyncConnection, values: Collection[Any]) -> Any:
    """Many values as the one parameter that :func:`among_parameter` asks for."""
    return list(values) if is_postgres(connection) else json.dumps(list(values))


def _array(column: Column[Any]) -> Any:
    return postgresql.ARRAY(Text() if isinstance(column.type, Text) else BigInteger())


def _in_json(column: Column[Any], value: ColumnElement[Any]) -> ColumnElement[bool]:
    each = func.json_each(value).table_valued("value")
    return column.in_(select(each.c.value))
