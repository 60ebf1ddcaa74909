"""The plugin's own notes: texts by name."""

from __future__ import annotations

from sqlalchemy import select

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.workflows.store.tables import notes


class Notes:
    """The table of notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, name: str) -> str | None:
        """A note, or None where there is none of that name."""
        async with self._database.engine.connect() as connection:
            return await connection.scalar(select(notes.c.value).where(notes.c.name == name))

    async def set(self, name: str, value: str) -> None:
        """Write a note over the one of that name."""
        async with self._database.begin() as connection:
            written = insert_into(connection, notes).values(name=name, value=value)
            await connection.execute(
                written.on_conflict_do_update(
                    index_elements=[notes.c.name], set_={"value": written.excluded.value}
                )
            )
