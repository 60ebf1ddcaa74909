"""The personal data of the playbook: exported as files, and erased with an account."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Row, select

from gateway.contract import Database, PersonalData, PersonalFile
from plugins.workflows.files.exporter import owner_files
from plugins.workflows.model import FORMER, PORTAL
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.kinds import TABLES
from plugins.workflows.store.links import Links
from plugins.workflows.store.ratings import Ratings
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.tables import folder_items, folders, library, links, ratings, runs

_PERSON_COLUMNS: tuple[Column[Any], ...] = (
    *(table.c.owner for table in TABLES.values()),
    folders.c.owner,
    library.c.person,
    runs.c.person,
    ratings.c.person,
    links.c.person,
)
"""Every column that holds a person's id."""
_LINK_COLUMNS = tuple(each for each in links.c if each.name != "digest")


class PersonalRecords:
    """Lists, exports and erases personal data.

    Args:
        database: the plugin's database.
        playbook: their items.
        runs: their runs.
        rated: what they think of workflows.
        shared: their links to workflows.
    """

    def __init__(
        self,
        database: Database,
        playbook: Playbook,
        runs: Runs,
        rated: Ratings,
        shared: Links,
    ) -> None:
        self._database, self._playbook, self._runs = database, playbook, runs
        self._ratings, self._links = rated, shared

    def declared(self) -> PersonalData:
        """What the plugin offers."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """The ids of everyone with data in the playbook."""
        found: set[str] = set()
        async with self._database.read() as connection:
            for who in _PERSON_COLUMNS:
                found |= set(await connection.scalars(select(who).distinct()))
        return found - {PORTAL, FORMER}

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """A person's items as ``porch workflows export`` writes them, and lists of all else."""
        refused: list[str] = []
        async for path, data in owner_files(self._playbook, person, refused):
            yield PersonalFile(path, data)
        for name, rows in (await self._lists(person)).items():
            if rows:
                yield _as_json(f"{name}.json", [_row_values(row) for row in rows])
        if refused:
            yield _as_json("not-written.json", refused)

    async def _lists(self, person: str) -> Mapping[str, Sequence[Row[Any]]]:
        inside = folder_items.join(folders, folders.c.id == folder_items.c.folder)
        queries = {
            "folders": select(folders).where(folders.c.owner == person),
            "folder-items": select(folder_items)
            .select_from(inside)
            .where(folders.c.owner == person),
            "library": select(library).where(library.c.person == person),
            "runs": select(runs).where(runs.c.person == person),
            "ratings": select(ratings).where(ratings.c.person == person),
            "links": select(*_LINK_COLUMNS).where(links.c.person == person),
        }
        for type, table in TABLES.items():
            deleted = table.c.owner == person, table.c.deleted.is_not(None)
            queries[f"deleted-{type.lower().replace('_', '-')}s"] = select(table).where(*deleted)
        async with self._database.read() as connection:
            return {name: (await connection.execute(q)).all() for name, q in queries.items()}

    async def erase(self, person: str) -> None:
        """Take a person out of the playbook; what others use stays, without their name."""
        await self._runs.erase(person)
        await self._ratings.erase(person)
        await self._links.erase(person)
        await self._playbook.erase(person)


def _row_values(row: Row[Any]) -> dict[str, Any]:
    """A row's values, without nulls and without the person's id."""
    values = {name: value for name, value in row._mapping.items() if value is not None}
    return {name: value for name, value in values.items() if name not in ("owner", "person")}


def _as_json(path: str, value: Any) -> PersonalFile:
    written = json.dumps(value, indent=2, ensure_ascii=False, default=_as_text)
    return PersonalFile(path, written.encode("utf-8", "replace"))


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
