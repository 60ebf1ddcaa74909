"""The migrations make what the code declares."""

from __future__ import annotations

from gateway.services.database.service import OwnedDatabase
from gateway.testing.own_tables import portal_metadata
from tests.migrated import differences


async def test_the_migrations_make_the_tables_that_the_code_declares(
    database: OwnedDatabase,
) -> None:
    assert await differences(database, portal_metadata()) == []


def test_every_table_is_known_as_the_portals() -> None:
    assert all(name.startswith("porch_") for name in portal_metadata().tables)
