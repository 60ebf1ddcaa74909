"""The migrations make what the code declares."""

from __future__ import annotations

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.store.change_tables import OF_CHANGES
from plugins.codegraph.store.tables import metadata
from tests.migrated import differences


async def test_the_first_migration_makes_the_tables_that_the_code_declares(
    database: OwnedDatabase,
) -> None:
    # Full text has tables of its own, and so have the repositories' work and its log.
    own = {f"ix_{name}" for name in metadata.tables} | set(metadata.tables)
    found = [each for each in await differences(database, metadata) if _about(each) in own]
    assert found == []


def _about(difference: object) -> str:
    """The table that a difference is about."""
    kind, *what = difference[0] if isinstance(difference, list) else difference  # type: ignore[misc]
    table = what[0] if kind.endswith("_table") else getattr(what[0], "table", None)
    return table.name if table is not None else str(what[1])


def test_the_tables_of_changes_are_among_them() -> None:
    assert {table.name for table in OF_CHANGES} < set(metadata.tables)


def test_every_table_is_known_as_the_code_graphs() -> None:
    assert all(name.startswith("codegraph_") for name in metadata.tables)


def test_every_table_says_whose_its_rows_are() -> None:
    assert [name for name, table in metadata.tables.items() if "org" not in table.c] == []
