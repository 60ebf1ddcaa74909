"""A migrated database of each kind, for whoever keeps something of a repository in it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.services.database import OwnedDatabase, open_database
from tests.conftest import new_database

MIGRATIONS = Path(__file__).parents[3] / "plugins" / "codegraph" / "migrations"


@pytest.fixture(scope="session")
def codegraph_runner() -> Iterator[asyncio.Runner]:
    """Runs what is asynchronous on the way into a test."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def codegraph_file(
    codegraph_runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A SQLite database, migrated and empty; for copies."""
    folder = tmp_path_factory.mktemp("migrated")

    async def migrated() -> None:
        service = open_database("sqlite", folder)
        await service.for_owner("codegraph").migrate(MIGRATIONS)
        await service.close()

    codegraph_runner.run(migrated())
    return folder / "porch.db"


@pytest.fixture(scope="session")
def codegraph_postgres(
    codegraph_runner: asyncio.Runner, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Gives the URL of a migrated database, which it empties each time."""
    stack = AsyncExitStack()

    async def begin() -> tuple[str, OwnedDatabase]:
        url = await stack.enter_async_context(new_database(postgres_url))
        service = open_database(url, tmp_path_factory.getbasetemp())
        stack.push_async_callback(service.close)
        database = service.for_owner("codegraph")
        await database.migrate(MIGRATIONS)
        return url, database

    url, database = codegraph_runner.run(begin())

    async def empty() -> str:
        async with database.begin() as connection:
            query = "SELECT tablename FROM pg_tables WHERE tablename LIKE 'codegraph%'"
            for name in await connection.scalars(text(query)):
                await connection.execute(text(f'DELETE FROM "{name}"'))
        return url

    yield lambda: codegraph_runner.run(empty())
    codegraph_runner.run(stack.aclose())


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("codegraph_file"), tmp_path)
        return "sqlite"
    emptied: Callable[[], str] = request.getfixturevalue("codegraph_postgres")
    return emptied()


@pytest.fixture
async def open_another(address: str, tmp_path: Path) -> AsyncIterator[Callable[[], OwnedDatabase]]:
    """Open the database once more, as another process would."""
    services = []

    def open_one() -> OwnedDatabase:
        services.append(open_database(address, tmp_path))
        return services[-1].for_owner("codegraph")

    yield open_one
    for service in services:
        await service.close()


@pytest.fixture
def database(open_another: Callable[[], OwnedDatabase]) -> OwnedDatabase:
    """SQLite, and PostgreSQL: migrated and empty."""
    return open_another()
