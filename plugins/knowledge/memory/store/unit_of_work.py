"""Several changes as one transaction, transparently to the code that makes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.contract import Database

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class UnitOfWork:
    """A :class:`Database` whose transactions can be parts of one.

    A task inside :meth:`transaction` sees what it has written there, and all of it is committed at
    once. Other tasks have transactions of their own; start none inside that outlives it.

    Args:
        database: the plugin's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._whole: ContextVar[AsyncConnection | None] = ContextVar("whole", default=None)

    @property
    def engine(self) -> AsyncEngine:
        """The SQLAlchemy engine; its own connections are no part of anything."""
        return self._database.engine

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncConnection]:
        """Begin a transaction of which all that this task opens here is a part."""
        async with self._database.begin() as connection:
            token = self._whole.set(connection)
            try:
                yield connection
            finally:
                self._whole.reset(token)

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """As ``Database.read``; inside :meth:`transaction`, its connection."""
        whole = self._whole.get()
        return self._database.read() if whole is None else _lent(whole)

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """As ``Database.begin``; inside :meth:`transaction`, a savepoint of it."""
        whole = self._whole.get()
        return self._database.begin() if whole is None else _savepoint(whole)

    async def migrate(self, migrations: Path) -> None:
        """As ``Database.migrate``."""
        await self._database.migrate(migrations)


@asynccontextmanager
async def _lent(connection: AsyncConnection) -> AsyncGenerator[AsyncConnection]:
    yield connection


@asynccontextmanager
async def _savepoint(connection: AsyncConnection) -> AsyncGenerator[AsyncConnection]:
    """A savepoint: an error undoes what it did, and the whole goes on where that is caught."""
    async with connection.begin_nested():
        yield connection
