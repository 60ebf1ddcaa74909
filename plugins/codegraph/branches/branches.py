"""Which branches have a layer, what of, and who asked for them last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.codegraph.branches.tables import branches as table
from plugins.codegraph.store.graph import OverlayView, RepositoryView
from plugins.codegraph.store.owner import Owner

_USE_NOTED = timedelta(minutes=1)
"""A use is written down only where the last one is older: a question is no reason to write."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch that has a layer.

    Attributes:
        name: its name.
        layer: the layer.
        commit: the commit that the layer is of.
        base, base_generation, base_commit: the base layer that it lies over.
        files: the paths that differ from the base.
        checked: when it was looked where the branch is.
        used: when somebody asked about it.
        pushed: when it was told that the branch moved, or None.
    """

    name: str
    layer: int
    commit: str
    base: int
    base_generation: int
    base_commit: str
    files: tuple[str, ...]
    checked: datetime
    used: datetime
    pushed: datetime | None = None

    def lies_over(self, view: RepositoryView) -> bool:
        """Whether its layer was made over what is served now."""
        return (self.base, self.base_generation) == (view.layer, view.generation)

    @property
    def moved(self) -> bool:
        """Whether it is known that the branch moved since it was looked."""
        return self.pushed is not None and self.pushed >= self.checked

    def over(self, view: RepositoryView) -> RepositoryView:
        """The view of a repository on this branch."""
        layer = OverlayView(self.layer, None, self.name, self.checked, None)
        return replace(
            view, commit=self.commit, branch=self.name, indexed=self.checked, overlay=layer
        )


class Branches:
    """Keeps which branches have a layer.

    Args:
        database: the plugin's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, owner: Owner, name: str) -> Branch | None:
        """The branch of a name, or None if it has no layer."""
        found = await self._rows(owner, name)
        return found[0] if found else None

    async def all(self, owner: Owner) -> Sequence[Branch]:
        """A repository's branches that have a layer, those first that were asked about last."""
        return await self._rows(owner)

    async def put(self, connection: AsyncConnection, owner: Owner, branch: Branch) -> None:
        """Keep a branch in place of what was kept of it, within a transaction.

        Of a push that was told of meanwhile, it is still said.
        """
        mine = _of(owner, branch.name)
        told = await connection.scalar(select(table.c.pushed).where(*mine))
        await connection.execute(table.delete().where(*mine))
        values = {field: getattr(branch, field) for field in _FIELDS}
        values |= {"files": list(branch.files), "pushed": told}
        row = {"org": owner.org, "repo": owner.repo, "branch": branch.name, **values}
        await connection.execute(table.insert().values(**row))

    async def note_look(self, owner: Owner, name: str, when: datetime) -> None:
        """Note that the branch was where it was before, when it was looked."""
        await self._set(owner, name, checked=when)

    async def note_use(self, owner: Owner, branch: Branch, when: datetime) -> None:
        """Note that somebody asks about a branch."""
        if branch.used < when - _USE_NOTED:
            await self._set(owner, branch.name, used=when)

    async def note_push(self, owner: Owner, name: str, when: datetime) -> bool:
        """Note that a branch moved or went; returns whether it has a layer."""
        return await self._set(owner, name, pushed=when) > 0

    async def remove(self, connection: AsyncConnection, owner: Owner, name: str) -> None:
        """Forget a branch, within a transaction."""
        await connection.execute(table.delete().where(*_of(owner, name)))

    async def purge(self, org: str, repo: str) -> int:
        """Forget all branches of a repository; returns their number."""
        async with self._database.begin() as connection:
            done = await connection.execute(table.delete().where(*_of(Owner(org, repo))))
        return int(done.rowcount)

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of a repository's branches that have a layer."""
        return len(await self._rows(Owner(org, repo)))

    async def _rows(self, owner: Owner, name: str | None = None) -> list[Branch]:
        query = select(table).where(*_of(owner, name)).order_by(table.c.used.desc())
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [_branch(row) for row in rows]

    async def _set(self, owner: Owner, name: str, **values: Any) -> int:
        async with self._database.begin() as connection:
            row = table.update().where(*_of(owner, name)).values(**values)
            return int((await connection.execute(row)).rowcount)


_FIELDS = (
    *("layer", "commit", "base", "base_generation", "base_commit"),
    *("files", "checked", "used", "pushed"),
)


def _of(owner: Owner, name: str | None = None) -> tuple[Any, ...]:
    mine = table.c.org == owner.org, table.c.repo == owner.repo
    return mine if name is None else (*mine, table.c.branch == name)


def _branch(row: Any) -> Branch:
    fields = {field: getattr(row, field) for field in _FIELDS}
    return Branch(name=row.branch, **{**fields, "files": tuple(row.files)})
