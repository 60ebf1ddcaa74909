"""Every owner's tables are the same in SQLite and PostgreSQL, so that rows can be copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect

from gateway.cli.copy_database import owners
from gateway.services.database.service import open_database

FILLED = {"codegraph": {"codegraph_words"}}
"""What PostgreSQL has of its own, which the owner's ``postgres_only.sql`` fills."""


async def tables(address: str, owner: str, place: Path) -> Mapping[str, set[str]]:
    """The columns of each table that an owner's migrations make."""
    service = open_database(address, place)

    def read(connection: Connection) -> dict[str, set[str]]:
        schema = inspect(connection)
        names = schema.get_table_names()
        return {name: {one["name"] for one in schema.get_columns(name)} for name in names}

    try:
        await service.migrate(owner, owners()[owner])
        async with service.read() as connection:
            return await connection.run_sync(read)
    finally:
        await service.close()


def test_the_portals_and_every_plugins_migrations_are_found() -> None:
    assert set(owners()) >= {"gateway", "codegraph", "knowledge", "upstreams", "workflows"}


@pytest.mark.parametrize("owner", sorted(owners()))
async def test_both_databases_have_the_same_tables(
    owner: str, postgres: str, tmp_path: Path
) -> None:
    there = await tables(postgres, owner, tmp_path)
    own = FILLED.get(owner, set())
    assert own <= there.keys()
    shared = {name: columns for name, columns in there.items() if name not in own}
    assert await tables("sqlite", owner, tmp_path) == shared
    assert bool(own) == (owners()[owner] / "postgres_only.sql").exists()
