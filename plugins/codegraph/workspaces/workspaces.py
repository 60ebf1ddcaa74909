"""Workspaces: people's uncommitted work, and its expiry.

A workspace belongs to one person, repository and branch (kap10, "Workspace Model"). Its content
is an overlay layer of the graph; nobody else ever reads it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.contract import Database


@dataclass(frozen=True, slots=True)
class Workspace:
    """The metadata of one workspace.

    Attributes:
        branch: its branch, as the sender named it.
        digest: of the diff, and of the index that it was applied to.
        base_sha: the commit that the diff is against.
        layer: the overlay layer; None if nothing differs from the index.
        files: the paths that differ from the index.
        conflicts: why some files could not be changed, by path.
        synced: when it was last sent.
        expires: when it expires.
    """

    branch: str
    digest: str
    base_sha: str
    layer: int | None
    files: tuple[str, ...]
    conflicts: dict[str, str]
    synced: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """The person and repository of a workspace."""

    org: str
    repo: str
    person: str


OnEnd = Callable[[str, str, int], Awaitable[None]]
"""``await ended(org, repo, layer)``: called when an overlay layer is no longer used."""


class Workspaces:
    """Stores workspaces.

    Args:
        database: the plugin's database.
        now: the time, in UTC.
        ended: ends overlay layers.
    """

    def __init__(self, database: Database, now: Callable[[], datetime], ended: OnEnd) -> None:
        self._database, self._now, self._ended = database, now, ended

    async def current(self, org: str, repo: str, person: str | None) -> Workspace | None:
        """The unexpired workspace that a person sent last; None if there is none."""
        if person is None:
            return None
        from sqlalchemy import select

        from plugins.codegraph.workspaces.tables import workspaces as table

        query = (
            select(table)
            .where(*_of(Place(org, repo, person)), table.c.expires > self._now())
            .order_by(table.c.synced.desc(), table.c.branch)
            .limit(1)
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        return None if row is None else _workspace(row)

    async def present(self, org: str, repo: str, limit: int) -> list[tuple[str, Workspace]]:
        """Who has unexpired workspaces in a repository: the newest of each person, newest first."""
        from sqlalchemy import select

        from plugins.codegraph.workspaces.tables import workspaces as table

        here = table.c.org == org, table.c.repo == repo, table.c.expires > self._now()
        query = select(table).where(*here).order_by(table.c.synced.desc(), table.c.branch)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        newest: dict[str, Workspace] = {}
        for row in rows:
            newest.setdefault(row.person, _workspace(row))
        return list(newest.items())[:limit]

    async def of_branch(self, place: Place, branch: str) -> Workspace | None:
        """A person's unexpired workspace for a branch, or None."""
        from sqlalchemy import select

        from plugins.codegraph.workspaces.tables import workspaces as table

        live = table.c.branch == branch, table.c.expires > self._now()
        async with self._database.read() as connection:
            row = (await connection.execute(select(table).where(*_of(place), *live))).first()
        return None if row is None else _workspace(row)

    async def put(self, place: Place, workspace: Workspace) -> None:
        """Store a workspace, replacing that of the same branch; its layer expires with it."""
        from sqlalchemy import update

        from plugins.codegraph.store.tables import layers
        from plugins.codegraph.workspaces.tables import workspaces as table

        async with self._database.begin() as connection:
            await connection.execute(
                table.delete().where(*_of(place), table.c.branch == workspace.branch)
            )
            await connection.execute(table.insert().values(**_row(place, workspace)))
            if workspace.layer is not None:
                mine = layers.c.id == workspace.layer, layers.c.person == place.person
                kept = update(layers).where(*mine, layers.c.repo == place.repo)
                await connection.execute(kept.values(expires=workspace.expires))

    async def end(self, place: Place, layer: int) -> None:
        """End a workspace's layer that is no longer used."""
        await self._ended(place.org, place.repo, layer)

    async def sweep(self) -> int:
        """Delete expired workspaces; returns their number.

        It may be interrupted, and called again.
        """
        from sqlalchemy import select

        from plugins.codegraph.workspaces.tables import workspaces as table

        now = self._now()
        async with self._database.read() as connection:
            found = (await connection.execute(select(table).where(table.c.expires <= now))).all()
        for row in found:
            if row.layer is not None:
                await self._ended(row.org, row.repo, row.layer)
            which = table.c.branch == row.branch, table.c.expires <= now
            async with self._database.begin() as connection:
                of = _of(Place(row.org, row.repo, row.person))
                await connection.execute(table.delete().where(*of, *which))
        return len(found)

    async def purge(self, org: str, repo: str) -> int:
        """Delete every workspace of a repository; returns their number."""
        from plugins.codegraph.workspaces.tables import workspaces as table

        async with self._database.begin() as connection:
            mine = table.c.org == org, table.c.repo == repo
            done = await connection.execute(table.delete().where(*mine))
        return int(done.rowcount)

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of a repository's workspaces."""
        from sqlalchemy import func, select

        from plugins.codegraph.workspaces.tables import workspaces as table

        mine = table.c.org == org, table.c.repo == repo
        async with self._database.read() as connection:
            return int(await connection.scalar(select(func.count()).where(*mine)) or 0)


def _of(place: Place) -> tuple[Any, ...]:
    from plugins.codegraph.workspaces.tables import workspaces as table

    return (
        table.c.org == place.org,
        table.c.repo == place.repo,
        table.c.person == place.person,
    )


def _row(place: Place, workspace: Workspace) -> dict[str, Any]:
    return {
        **{"org": place.org, "repo": place.repo, "person": place.person},
        **{"branch": workspace.branch, "digest": workspace.digest},
        **{"base_sha": workspace.base_sha, "layer": workspace.layer},
        **{"files": list(workspace.files), "conflicts": workspace.conflicts},
        **{"synced": workspace.synced, "expires": workspace.expires},
    }


def _workspace(row: Any) -> Workspace:
    return Workspace(
        branch=row.branch,
        digest=row.digest,
        base_sha=row.base_sha,
        layer=row.layer,
        files=tuple(row.files),
        conflicts=dict(row.conflicts),
        synced=row.synced,
        expires=row.expires,
    )
