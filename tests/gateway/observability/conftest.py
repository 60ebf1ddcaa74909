"""A database with the audit table, of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import OwnedDatabase, open_database


@asynccontextmanager
async def migrated(address: str, data_dir: Path) -> AsyncIterator[OwnedDatabase]:
    service = open_database(address, data_dir)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    yield database
    await service.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return "sqlite"
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.fixture
async def database(address: str, tmp_path: Path) -> AsyncIterator[OwnedDatabase]:
    async with migrated(address, tmp_path) as database:
        yield database
