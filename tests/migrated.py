"""Migrated databases for tests, and what they hold beside what the code declares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gateway.services.database.service import OwnedDatabase, open_database
from tests.conftest import new_database

if TYPE_CHECKING:
    from sqlalchemy import MetaData


class Migrated:
    """An owner's databases: migrated once, and empty whenever a test asks for one.

    To copy a file or to delete a test's rows takes milliseconds; to migrate anew, or to make and
    drop a PostgreSQL database, takes up to a second. Tables that are kept are not emptied.
    """

    def __init__(
        self,
        owner: str,
        migrations: Path,
        folder: Path,
        options: str = "",
        keep: Collection[str] = (),
    ) -> None:
        self._owner, self._migrations, self._folder = owner, migrations, folder
        self._options, self._keep = options, keep
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._empty: dict[str, Callable[[], str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    @cached_property
    def file(self) -> Path:
        """SQLite's, for copies."""

        async def migrated() -> None:
            service, _ = await self._open("sqlite")
            await service.close()

        self._runner.run(migrated())
        return self._folder / "porch.db"

    def on(self, server: str) -> str:
        """The URL of an empty database on a PostgreSQL server; each call empties it again."""
        if server not in self._empty:
            self._empty[server] = self._runner.run(self._made(server))
        return self._empty[server]()

    async def _open(self, address: str) -> Any:
        service = open_database(address, self._folder)
        database = service.for_owner(self._owner)
        await database.migrate(self._migrations)
        return service, database

    async def _made(self, server: str) -> Callable[[], str]:
        from sqlalchemy import MetaData, delete

        url = await self._stack.enter_async_context(new_database(server, self._options))
        service, database = await self._open(url)
        self._stack.push_async_callback(service.close)
        found = MetaData()
        async with database.engine.connect() as connection:
            await connection.run_sync(found.reflect)
        tables = [
            each
            for each in reversed(found.sorted_tables)
            if "alembic" not in each.name and each.name not in self._keep
        ]

        async def empty() -> str:
            async with database.begin() as connection:
                for table in tables:
                    await connection.execute(delete(table))
            return url

        return lambda: self._runner.run(empty())


async def differences(database: OwnedDatabase, metadata: MetaData) -> list[Any]:
    """What would have to change in the tables to be as they are declared; empty if nothing."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def found(connection: Any) -> list[Any]:
        options = {"include_name": lambda name, kind, _: kind != "table" or "alembic" not in name}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, metadata))

    async with database.engine.connect() as connection:
        return await connection.run_sync(found)
