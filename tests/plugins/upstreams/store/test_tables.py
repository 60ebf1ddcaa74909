"""The migrations make the tables that the code declares."""

from __future__ import annotations

from pathlib import Path

from gateway.services.database.service import open_database
from plugins.upstreams.store.store import MIGRATIONS
from plugins.upstreams.store.tables import metadata
from tests.migrated import differences


async def test_the_tables_are_as_declared(tmp_path: Path) -> None:
    service = open_database("sqlite", tmp_path)
    database = service.for_owner("upstreams")
    await database.migrate(MIGRATIONS)
    assert await differences(database, metadata) == []
    await service.close()
