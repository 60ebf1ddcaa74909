"""The database service: SQLite in the data directory, or PostgreSQL.

The gateway owns the one engine; every owner (a plugin, or the gateway itself) owns its tables
and a version table of its own, so that owners are migrated apart from each other.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.services.clients import need
from gateway.services.database import migrations as revisions
from gateway.services.database import sqlite
from gateway.services.database.errors import without_values
from gateway.services.database.guard import CONNECT_TIMEOUT_SECONDS, DatabaseGuard
from gateway.services.database.spans import trace_statements

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

    from sqlalchemy import URL
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

__all__ = ["DatabaseService", "DatabaseUnavailable", "OwnedDatabase", "open_database"]


class DatabaseUnavailable(Exception):
    """The database cannot be reached or read; the message says why and what to do."""


class DatabaseService:
    """One engine, shared by all owners; opened at first use.

    Args:
        address: ``sqlite``, or a ``postgresql://`` URL.
        data_dir: where ``porch.db`` lies, for SQLite.
    """

    def __init__(self, address: str, data_dir: Path) -> None:
        self._embedded = address == "sqlite"
        self._address = address
        self._data_dir = data_dir
        self._migrating = asyncio.Lock()
        self._writers = sqlite.Writers()
        self._guard: DatabaseGuard | None = None

    @cached_property
    def engine(self) -> AsyncEngine:
        """The SQLAlchemy engine, opened at first use."""
        from sqlalchemy.ext.asyncio import create_async_engine

        if not self._embedded:
            url = _for_asyncpg(self._address)
            engine = create_async_engine(
                url,
                pool_pre_ping=True,
                hide_parameters=True,
                connect_args={"timeout": CONNECT_TIMEOUT_SECONDS},
            )
            without_values(engine.sync_engine)
            trace_statements(engine.sync_engine)
            self._guard = DatabaseGuard(engine, _plain(self._address), f"{url.host}:{url.port}")
            return engine
        self._data_dir.mkdir(parents=True, exist_ok=True)
        engine = sqlite.opened(self._data_dir / "porch.db")
        trace_statements(engine.sync_engine)
        return engine

    @cached_property
    def _reader(self) -> AsyncEngine:
        if self._embedded:
            return sqlite.reading(self.engine)
        return self.engine.execution_options(isolation_level="AUTOCOMMIT")

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for queries that stand for themselves, without a transaction."""
        return self._reader.connect()

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction: committed at the end of the block, rolled back on an error.

        In SQLite it has the write lock from its beginning, and the tasks of this process get it
        in the order in which they asked; a task that only reads goes through
        ``engine.connect()`` and waits for no one.

        Raises:
            RuntimeError: the task has a transaction open already, for which it would wait
                without end (SQLite).
        """
        if self._embedded:
            return sqlite.writing(self.engine, self._writers)
        return self.engine.begin()

    def for_owner(self, name: str) -> OwnedDatabase:
        """The share of one owner: a plugin's name, or ``gateway``."""
        return OwnedDatabase(self, name)

    async def migrate(self, owner: str, migrations: Path) -> None:
        """Bring an owner's tables to the newest revision; quick where they are there already.

        Portals that start at the same moment wait for each other. A revision that fails leaves
        nothing behind.

        Args:
            owner: whose tables; names the version table ``alembic_version_<owner>``.
            migrations: a directory with Alembic ``versions/``.

        Raises:
            MigrationFailed: the tables come from a newer version, or rows would lose what they
                refer to.
            DatabaseUnavailable: the database cannot be reached, or its file is damaged.
        """
        version_table = f"alembic_version_{owner}"
        wanted = await asyncio.to_thread(revisions.newest, migrations)
        with self._explained():
            async with self.engine.connect() as connection:
                recorded = await connection.run_sync(revisions.recorded, version_table)
        if recorded == wanted:
            return
        # Alembic's ``op`` is one for the whole process, so one migration runs at a time.
        async with self._migrating, self._changing_tables(version_table) as connection:
            await connection.run_sync(revisions.upgrade, migrations, version_table)

    @contextmanager
    def _explained(self) -> Generator[None]:
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except (DBAPIError, OSError) as error:
            raise DatabaseUnavailable(self._explanation(error)) from error

    def _explanation(self, error: Exception) -> str:
        """A message with the driver's reason, the database, and what an admin can do."""
        from sqlalchemy.exc import DatabaseError

        cause = getattr(error, "orig", error)
        reason = str(cause).removeprefix(f"{type(cause)}: ") or type(cause).__name__
        if not self._embedded:
            url = _for_asyncpg(self._address)
            place = f"{url.host}:{url.port or 5432}, database {url.database}"
            return f"PostgreSQL at {place}, cannot be used: {reason}. Check that it is up."
        problem = f"{self._data_dir / 'porch.db'} cannot be used: {reason}."
        if type(error) is not DatabaseError:  # its subclasses speak of locks, room and rights
            return problem
        return (
            f"{problem} Put back a backup; or move the file away, and a new one is made without "
            "the audit records and what plugins kept in it."
        )

    def _changing_tables(self, lock: str) -> AbstractAsyncContextManager[AsyncConnection]:
        if self._embedded:
            return sqlite.changing_tables(self.engine, self._writers)
        return _holding_lock(self.engine, lock)

    def watch(self) -> None:
        """See from now on whether a server that was used before answers."""
        if self._guard is not None:
            self._guard.watch()

    def check(self) -> None:
        """Go on where the database answers, as far as is known.

        Raises:
            DatabaseAway: it does not.
        """
        if self._guard is not None:
            self._guard.breaker.check()

    @property
    def connections(self) -> Mapping[str, int]:
        """The connections that are ``used`` now, those that are ``idle``, and the most of them."""
        if "engine" not in self.__dict__:
            return {"used": 0, "idle": 0, "most": 0}
        pool: Any = self.engine.pool
        most = pool.size() + max(0, pool._max_overflow)
        return {"used": pool.checkedout(), "idle": pool.checkedin(), "most": most}

    async def close(self) -> None:
        """Close the connections, if any was opened."""
        if "engine" not in self.__dict__:
            return
        if self._guard is not None:
            await self._guard.close()
        await self.engine.dispose()
        if self._embedded:
            from gateway.services.database.sqlite_driver import gone

            await gone()


class OwnedDatabase:
    """The database as one owner sees it: the port ``Database``."""

    def __init__(self, service: DatabaseService, owner: str) -> None:
        self._service = service
        self._owner = owner

    @property
    def engine(self) -> AsyncEngine:
        """The SQLAlchemy engine, opened at first use."""
        return self._service.engine

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection for queries that stand for themselves, without a transaction."""
        return self._service.read()

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction: committed at the end of the block, rolled back on an error."""
        return self._service.begin()

    async def migrate(self, migrations: Path) -> None:
        """Bring the owner's tables to the newest revision (``DatabaseService.migrate``)."""
        await self._service.migrate(self._owner, migrations)


def open_database(address: str, data_dir: Path) -> DatabaseService:
    """The database service at an address; nothing is opened until it is used.

    Args:
        address: ``sqlite`` (the file ``porch.db``), or a ``postgresql://`` URL, in which
            libpq's ``sslmode`` is understood.
        data_dir: the portal's data directory.

    Raises:
        ValueError: the address is neither, or the client is not installed.
    """
    if is_postgres(address):
        need("asyncpg", "PostgreSQL")
    elif address != "sqlite":
        raise ValueError("The database is 'sqlite' or a postgresql:// URL.")
    return DatabaseService(address, data_dir)


def is_postgres(address: str) -> bool:
    """Whether an address is PostgreSQL's, with or without a driver's name in it."""
    scheme, separator, _ = address.partition("://")
    return bool(separator) and scheme.partition("+")[0] in ("postgresql", "postgres")


def _plain(address: str) -> str:
    """An address without the name of a driver."""
    return "postgresql://" + address.partition("://")[2]


def _for_asyncpg(address: str) -> URL:
    from sqlalchemy import make_url

    url = make_url(address.replace("postgres://", "postgresql://", 1))
    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    return url.set(drivername="postgresql+asyncpg", query=query)


@asynccontextmanager
async def _holding_lock(engine: AsyncEngine, name: str) -> AsyncGenerator[AsyncConnection]:
    """A PostgreSQL transaction that holds the advisory lock of a name, for its whole length."""
    from gateway.toolkit.sql import exclusive, lock_number

    async with engine.begin() as connection:
        await exclusive(connection, lock_number("", name))
        yield connection
