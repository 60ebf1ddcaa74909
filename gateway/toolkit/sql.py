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
    Dialect,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

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


def among(column: Column[Any], values: Collection[Any]) -> ColumnElement[bool]:
    """The condition that a column has one of many values.

    They travel as one parameter: a statement may have 32,766, and each of them costs.

    Args:
        column: of text or whole numbers.
        values: any number of them.
    """
    return _OneOf(column, literal(values, _Values(_is_text(column))))


def among_parameter(column: Column[Any], name: str) -> ColumnElement[bool]:
    """The same for a statement that is built once and run often.

    Args:
        column: of text or whole numbers.
        name: the parameter that gets the values in each run.
    """
    return _OneOf(column, bindparam(name, type_=_Values(_is_text(column))))


def _is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, Text)


class _Values(TypeDecorator[Collection[Any]]):
    """Many values in one parameter: an array in PostgreSQL, JSON in SQLite."""

    impl = Text
    cache_ok = True

    def __init__(self, is_text: bool) -> None:
        super().__init__()
        self.is_text = is_text

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name != "postgresql":
            return dialect.type_descriptor(Text())
        return dialect.type_descriptor(postgresql.ARRAY(Text() if self.is_text else BigInteger()))

    def process_bind_param(self, value: Collection[Any] | None, dialect: Dialect) -> Any:
        values = list(value or ())
        return values if dialect.name == "postgresql" else json.dumps(values)


class _OneOf(FunctionElement[bool]):
    # SQLite would be asked whether a Boolean is 1, and would use no index then.
    type = NullType()  # type: ignore[assignment]
    inherit_cache = True


@compiles(_OneOf)
def _in_json(element: _OneOf, compiler: SQLCompiler, **more: Any) -> str:
    column, values = (compiler.process(each, **more) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608  (a parameter's name)


@compiles(_OneOf, "postgresql")
def _in_array(element: _OneOf, compiler: SQLCompiler, **more: Any) -> str:
    column, values = (compiler.process(each, **more) for each in element.clauses)
    return f"{column} = ANY ({values})"
