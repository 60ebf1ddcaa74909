"""Personal data: people's workspaces, and which repositories they have added or removed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from typing import TYPE_CHECKING, Any

from gateway.contract import Database, PersonalData, PersonalFile
from plugins.codegraph.workspaces.workspaces import Place, Workspaces

if TYPE_CHECKING:
    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection


class WorkspacePersonalData:
    """Exports and erases personal data.

    A workspace is deleted. A repository belongs to the community: it stays, and so do the log of
    removals, corrections of justifications and what agents said of code, without the person.

    Args:
        database: the plugin's database.
        workspaces: the workspaces in it.
    """

    def __init__(self, database: Database, workspaces: Workspaces) -> None:
        self._database, self._workspaces = database, workspaces

    def declared(self) -> PersonalData:
        """The plugin's personal-data operations, for the portal."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """The ids of everyone with personal data here."""
        from sqlalchemy import select

        async with self._database.read() as connection:
            found = [set(await connection.scalars(select(who).distinct())) for who in _columns()]
        return set().union(*found) - {None}

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """A person's workspaces with the files in them, and their repositories by name."""
        async with self._database.read() as connection:
            added = await _added(connection, person)
            corrected = await _corrected(connection, person)
            answered = await _answered(connection, person)
            spaces = await _workspaces(connection, person)
        if any(added.values()):
            yield _as_json("repositories.json", added)
        if corrected:
            yield _as_json("corrections.json", corrected)
        if answered:
            yield _as_json("answers.json", answered)
        for number, row in enumerate(spaces, 1):
            yield _as_json(f"workspaces/{number}.json", _exported(row))
            async for path, data in self._texts(row):
                yield PersonalFile(f"workspaces/{number}/{path}", data)

    async def _texts(self, row: Row[Any]) -> AsyncIterator[tuple[str, bytes]]:
        """The files of a workspace as they were sent, as (path, text)."""
        from sqlalchemy import select

        from plugins.codegraph.store.contents import text_of
        from plugins.codegraph.store.owner import Owner
        from plugins.codegraph.store.tables import files

        there = select(files.c.path, files.c.digest).where(
            *(files.c.org == row.org, files.c.repo == row.repo),
            *(files.c.layer == row.layer, files.c.gone.is_(False)),
        )
        async with self._database.read() as connection:
            found = (await connection.execute(there.order_by(files.c.path))).all()
        for path, digest in found:
            async with self._database.read() as connection:
                text = await text_of(connection, Owner(row.org, row.repo), digest)
            if text is not None:
                yield path, text

    async def erase(self, person: str) -> None:
        """Erase a person: delete their workspaces and every reference to them."""
        from sqlalchemy import select, update

        from plugins.codegraph.store.tables import layers
        from plugins.codegraph.workspaces.tables import workspaces

        mine = select(layers.c.org, layers.c.repo, layers.c.id).where(layers.c.person == person)
        async with self._database.read() as connection:
            overlays = (await connection.execute(mine)).all()
        for org, repo, layer in overlays:
            await self._workspaces.end(Place(org, repo, person), layer)
        async with self._database.begin() as connection:
            await connection.execute(workspaces.delete().where(workspaces.c.person == person))
            # Last, so that an interrupted erasure can still find the overlays by person.
            for who in _columns():
                if who.table is not workspaces:
                    nobody = update(who.table).where(who == person).values({who.name: None})
                    await connection.execute(nobody)


def _columns() -> tuple[Any, ...]:
    """Every column that identifies a person."""
    from plugins.codegraph.repositories.tables import deletions
    from plugins.codegraph.store.tables import corrections, layers, opinions, repositories
    from plugins.codegraph.workspaces.tables import workspaces

    return (
        workspaces.c.person,
        layers.c.person,
        corrections.c.person,
        opinions.c.person,
        repositories.c.created_by,
        deletions.c.removed_by,
    )


async def _added(connection: AsyncConnection, person: str) -> dict[str, list[str]]:
    from sqlalchemy import select

    from plugins.codegraph.repositories.tables import deletions
    from plugins.codegraph.store.tables import repositories

    added = select(repositories.c.name).where(repositories.c.created_by == person)
    removed = select(deletions.c.name).where(deletions.c.removed_by == person)
    return {
        "added": sorted(await connection.scalars(added)),
        "removed": sorted(await connection.scalars(removed)),
    }


async def _corrected(connection: AsyncConnection, person: str) -> list[dict[str, Any]]:
    from sqlalchemy import select

    from plugins.codegraph.store.tables import corrections

    mine = select(corrections).where(corrections.c.person == person).order_by(corrections.c.at)
    rows = [row._mapping for row in await connection.execute(mine)]
    return [
        {"file": row["path"], "name": row["qualified"], "at": row["at"].isoformat()}
        | dict(row["values"])
        for row in rows
    ]


async def _answered(connection: AsyncConnection, person: str) -> list[dict[str, Any]]:
    """What a person's agent said of code."""
    import msgspec
    from sqlalchemy import select

    from plugins.codegraph.justification.opinions.opinion import Said
    from plugins.codegraph.store.tables import opinions

    mine = select(opinions).where(opinions.c.person == person).order_by(opinions.c.at)
    found = []
    for row in await connection.execute(mine):
        said = msgspec.msgpack.decode(row.data, type=Said)
        about = {"file": row.path, "name": row.qualified, "at": row.at.isoformat()}
        told = {"class": said.type, "purpose": said.purpose, "businessValue": said.value}
        found.append({**about, "model": row.model, **told})
    return found


async def _workspaces(connection: AsyncConnection, person: str) -> list[Row[Any]]:
    from sqlalchemy import select

    from plugins.codegraph.store.tables import repositories
    from plugins.codegraph.workspaces.tables import workspaces

    named = workspaces.outerjoin(repositories, repositories.c.id == workspaces.c.repo)
    query = (
        select(*workspaces.c, repositories.c.name)
        .select_from(named)
        .where(workspaces.c.person == person)
        .order_by(workspaces.c.org, workspaces.c.repo, workspaces.c.branch)
    )
    return [*await connection.execute(query)]


def _exported(row: Row[Any]) -> dict[str, Any]:
    return {
        "repository": row.name,
        "branch": row.branch,
        "base": row.base_sha,
        "files": list(row.files),
        "conflicts": dict(row.conflicts),
        "sent": row.synced.isoformat(),
        "expires": row.expires.isoformat(),
    }


def _as_json(path: str, value: Any) -> PersonalFile:
    return PersonalFile(path, json.dumps(value, indent=2, ensure_ascii=False).encode())
