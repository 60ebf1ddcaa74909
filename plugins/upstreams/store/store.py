"""Catalogues and pins in the database, so that a start waits for no server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.upstreams.catalogue.entries import Catalogue, Entry, Malformed
from plugins.upstreams.catalogue.pins import Pin, State

MIGRATIONS = Path(__file__).parent.parent / "migrations"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a server offered when it was asked last.

    Attributes:
        target: where it was asked.
        era: the era that it spoke, ``modern`` or ``legacy``.
        about: what it said of itself: name, version, capabilities, instructions.
        catalogue: what it offered.
        fetched: when.
    """

    target: str
    era: str
    about: Mapping[str, Any]
    catalogue: Catalogue
    fetched: datetime = field(default_factory=lambda: datetime.now(UTC))


class Store:
    """The plugin's tables.

    Args:
        database: the plugin's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self) -> None:
        """Bring the tables up to date."""
        await self._database.migrate(MIGRATIONS)

    async def kept(self) -> dict[str, Kept]:
        """What servers offered last, by their names."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import catalogues

        async with self._database.read() as connection:
            rows = await connection.execute(select(catalogues))
            return {row.server: _kept(row) for row in rows}

    async def keep(self, server: str, kept: Kept) -> None:
        """Keep what a server offers now, in place of what it offered before."""
        from plugins.upstreams.store.tables import catalogues

        values = {
            "target": kept.target,
            "era": kept.era,
            "about": dict(kept.about),
            "entries": {kind: list(found) for kind, found in kept.catalogue.entries.items()},
            "malformed": {
                "entries": [asdict(each) for each in kept.catalogue.malformed],
                "cut": list(kept.catalogue.cut),
            },
            "fetched": kept.fetched,
        }
        async with self._database.begin() as connection:
            insert = insert_into(connection, catalogues).values(server=server, **values)
            await connection.execute(
                insert.on_conflict_do_update(index_elements=[catalogues.c.server], set_=values)
            )

    async def pins(self, server: str) -> list[Pin]:
        """What is known of a server's tools."""
        from sqlalchemy import select

        from plugins.upstreams.store.tables import pins

        async with self._database.read() as connection:
            found = select(pins).where(pins.c.server == server).order_by(pins.c.name)
            rows = await connection.execute(found)
            return [Pin(row.name, row.entry, row.state) for row in rows]

    async def decide(
        self, server: str, entries: Iterable[Entry], state: State, by: str | None = None
    ) -> None:
        """Remember what was decided about definitions of a server's tools.

        Args:
            server: whose.
            entries: the definitions, as they were looked at.
            state: what was decided.
            by: who did; None where it was the first use.
        """
        from plugins.upstreams.store.tables import pins

        shared = {"state": state, "decided": datetime.now(UTC), "decided_by": by}
        async with self._database.begin() as connection:
            for entry in entries:
                values = {"entry": dict(entry), **shared}
                insert = insert_into(connection, pins)
                await connection.execute(
                    insert.values(
                        server=server, name=entry["name"], **values
                    ).on_conflict_do_update(
                        index_elements=[pins.c.server, pins.c.name], set_=values
                    )
                )


def _kept(row: Any) -> Kept:
    malformed = tuple(Malformed(**each) for each in row.malformed["entries"])
    entries = {kind: tuple(found) for kind, found in row.entries.items()}
    catalogue = Catalogue(entries, malformed, tuple(row.malformed["cut"]))
    return Kept(row.target, row.era, row.about, catalogue, row.fetched)
