"""How the portal uses SQLite: settings of a connection, transactions, table changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from gateway.services.migrations import MigrationFailed

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

__all__ = ["changing_tables", "prepare", "writing"]

BUSY_TIMEOUT = 10_000
"""Milliseconds that a writer waits for another one."""
_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT}",
    "PRAGMA journal_mode=WAL",  # readers and the writer do not wait for each other
    "PRAGMA synchronous=NORMAL",  # safe with WAL: a power cut may undo, never break
    "PRAGMA foreign_keys=ON",
)


def prepare(engine: AsyncEngine) -> None:
    """Set up every connection that the engine will open."""
    from sqlalchemy import event

    @event.listens_for(engine.sync_engine, "connect")
    def settings(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where SQLAlchemy says, below
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")


@asynccontextmanager
async def writing(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A transaction that has the write lock from its beginning.

    One that reads first and then writes would fail, without waiting, when another process or
    task wrote in between.
    """
    async with engine.connect() as connection:
        async with _immediate(connection):
            yield connection


@asynccontextmanager
async def changing_tables(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A writing transaction in which tables may be made anew.

    SQLite changes a column by copying its table and dropping the old one. With foreign keys on,
    that drop would delete the rows that refer to it; so they are off, and checked at the end.

    Raises:
        MigrationFailed: rows would refer to rows that are gone; nothing was changed.
    """
    async with engine.connect() as connection:
        raw: Any = (await connection.get_raw_connection()).driver_connection
        await raw.execute("PRAGMA foreign_keys=OFF")  # has no effect inside a transaction
        try:
            async with _immediate(connection):
                yield connection
                check = await connection.exec_driver_sql("PRAGMA foreign_key_check")
                broken: Any = check.first()
                if broken is not None:
                    raise MigrationFailed(
                        f"A row of {broken[0]} would refer to a row of {broken[2]} that is gone."
                    )
        finally:
            await raw.execute("PRAGMA foreign_keys=ON")


@asynccontextmanager
async def _immediate(connection: AsyncConnection) -> AsyncGenerator[None]:
    await connection.execution_options(sqlite_begin="IMMEDIATE")
    async with connection.begin():
        yield
