"""What a migrated database holds beside what the code declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.services.database import OwnedDatabase

if TYPE_CHECKING:
    from sqlalchemy import MetaData


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
