"""Many changes as one transaction, without a word of it to what makes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.contract import Database

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine


class Together:
    """A :class:`Database` whose transactions can be parts of one.

    What a task does inside :meth:`one` sees what it wrote there before, and is committed with it.
    Other tasks have transactions of their own; start none inside that goes on after it.

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
    async def one(self) -> AsyncGenerator[AsyncConnection]:
        """Begin a transaction of which all that this task opens here is a part."""
        async with self._database.begin() as connection:
            token = self._whole.set(connection)
            try:
                yield connection
            finally:
                self._whole.reset(token)

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """As ``Database.read``; inside :meth:`one`, of its state of things."""
        whole = self._whole.get()
        return self._database.read() if whole is None else _lent(whole)

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """As ``Database.begin``; inside :meth:`one`, committed with the rest or not at all."""
        whole = self._whole.get()
        return self._database.begin() if whole is None else _part(whole)

    async def migrate(self, migrations: Path) -> None:
        """As ``Database.migrate``."""
        await self._database.migrate(migrations)


@asynccontextmanager
async def _lent(connection: AsyncConnection) -> AsyncGenerator[AsyncConnection]:
    yield connection


@asynccontextmanager
async def _part(connection: AsyncConnection) -> AsyncGenerator[AsyncConnection]:
    """A savepoint: an error undoes what it did, and the whole goes on where that is caught."""
    async with connection.begin_nested():
        yield connection
