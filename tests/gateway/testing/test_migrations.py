"""Replayed migrations leave the database that Alembic leaves."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, inspect, text

from gateway.services.database import migrations as revisions
from gateway.services.database.service import OwnedDatabase, open_database
from gateway.testing.migrations import replayed_migrations
from tests.conftest import new_database
from tests.migrated import differences

ROOT = Path(__file__).parents[3]
OWNERS = {
    path.parent.name: path
    for path in (*ROOT.glob("*/migrations"), *ROOT.glob("plugins/*/migrations"))
}


async def everything(database: OwnedDatabase) -> dict[str, Any]:
    """What the tables are called, what made them, and the rows in them."""
    found: dict[str, Any] = {}
    async with database.read() as connection:
        made = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
        for name in made:
            rows = await connection.execute(text(f'SELECT * FROM "{name}"'))
            found[name] = sorted(map(str, rows))
        if connection.dialect.name == "sqlite":
            rows = await connection.execute(text("SELECT type, name, sql FROM sqlite_master"))
            found["sqlite_master"] = sorted(map(str, rows))
    return found


async def metadata(database: OwnedDatabase) -> MetaData:
    found = MetaData()
    async with database.read() as connection:
        await connection.run_sync(found.reflect, only=lambda name, _: "alembic" not in name)
    return found


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_sqlite_database_is_the_same(owner: str, tmp_path: Path) -> None:
    services = [open_database("sqlite", tmp_path / str(each)) for each in range(2)]
    with replayed_migrations():
        first, second = [service.for_owner(owner) for service in services]
        await first.migrate(OWNERS[owner])
        await second.migrate(OWNERS[owner])
    assert await everything(first) == await everything(second) != {}
    for service in services:
        await service.close()


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_postgresql_database_is_the_same(
    owner: str, postgres_url: str, tmp_path: Path
) -> None:
    async with new_database(postgres_url) as one, new_database(postgres_url) as another:
        services = [open_database(each, tmp_path) for each in (one, another)]
        first, second = [service.for_owner(owner) for service in services]
        with replayed_migrations():
            await first.migrate(OWNERS[owner])
            await second.migrate(OWNERS[owner])
        assert await everything(first) == await everything(second) != {}
        assert await differences(second, await metadata(first)) == []
        for service in services:
            await service.close()


async def test_tables_of_an_older_version_are_migrated_by_alembic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, migrations = "workflows", OWNERS["workflows"]
    service = open_database("sqlite", tmp_path)
    try:
        with replayed_migrations():
            await service.for_owner(owner).migrate(migrations)
            async with service.begin() as connection:
                await connection.execute(
                    text(f"UPDATE alembic_version_{owner} SET version_num='0'")
                )
            with pytest.raises(revisions.MigrationFailed):
                await service.for_owner(owner).migrate(migrations)
    finally:
        await service.close()
