"""The migrations make what the code declares."""

from __future__ import annotations

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.store.tables import metadata
from tests.migrated import differences


async def test_the_migration_makes_the_tables_that_the_code_declares(
    database: OwnedDatabase,
) -> None:
    assert await differences(database, metadata) == []


def test_every_table_is_known_as_the_playbooks() -> None:
    assert all(name.startswith("playbook_") for name in metadata.tables)
