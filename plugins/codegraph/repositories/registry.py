"""The registry: the repositories of the portal, and which of them a caller may see."""

from __future__ import annotations

import difflib
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, insert, select, update
from sqlalchemy.exc import IntegrityError

from gateway.contract import Caller, Database, RowKind, Rows, Tier, ToolFailed, Unruled
from plugins.codegraph.repositories.repository import Draft, Repository, State
from plugins.codegraph.repositories.tables import deletions, work
from plugins.codegraph.store.tables import layers, repositories

FRESH = 0.5
"""Seconds for which a read of the registry is cached; removals take effect at once, since the store
itself checks whether a repository is served."""
_MAX_LISTED = 50
_ROW = "repository"


class NameTaken(Exception):
    """Another repository has the name or the location; the message says which."""


class UnknownRepository(Exception):
    """There is no repository of that name; the message lists the existing ones."""


class Repositories:
    """The repositories of the portal.

    Args:
        database: the plugin's database.
        now: the time, in UTC.
        default: the tier of repositories that declare none.
        rows: the rules for repositories in ``tiers.yaml``, which can only raise a tier.
    """

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime],
        default: Tier = Tier.MEMBERS,
        rows: Rows | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._default = default
        self._rows = rows or Unruled()
        self._read: tuple[float, Sequence[Repository]] | None = None

    async def all(self, *, fresh: bool = True) -> Sequence[Repository]:
        """All repositories that are not removed, by name.

        Args:
            fresh: whether to query the database; if not, the answer may be up to :data:`FRESH`
                seconds old.
        """
        if not fresh and self._read and time.monotonic() - self._read[0] < FRESH:
            return self._read[1]
        async with self._database.read() as connection:
            rows = (await connection.execute(_QUERY)).all()
        now = self._now()
        found = [_repository(row, now, self._default) for row in rows]
        self._read = (time.monotonic(), found)
        return found

    async def get(self, name: str) -> Repository:
        """The repository of a name.

        Raises:
            UnknownRepository: there is none.
        """
        found = await self.all()
        for each in found:
            if each.name == name:
                return each
        raise UnknownRepository(_none_of(name, [each.name for each in found]))

    async def by_id(self, repo: str) -> Repository | None:
        """The repository with an id, or None if it was removed."""
        return next((each for each in await self.all() if each.id == repo), None)

    async def visible(self, caller: Caller, *, fresh: bool = False) -> Sequence[Repository]:
        """The repositories that a caller may see, by name; ``fresh`` as in :meth:`all`."""
        return [each for each in await self.all(fresh=fresh) if self._seen(each, caller)]

    def _seen(self, repository: Repository, caller: Caller) -> bool:
        asked = self._rows.tier(f"{_ROW}:{repository.name}", repository.tier)
        return caller.tier.allows(asked) and repository.seen_by(caller)

    def row_kind(self) -> RowKind:
        """The kind of row that ``tiers.yaml`` has for repositories."""
        return RowKind(_ROW, "a repository, by its name", self._names)

    def _names(self) -> list[str]:
        return [each.name for each in self._read[1]] if self._read else []

    async def named(self, caller: Caller, name: str | None, *, fresh: bool = False) -> Repository:
        """The repository that a caller names; without a name, the only one they may see.

        Args:
            caller: who asks.
            name: the repository's name, or None.
            fresh: as in :meth:`all`.

        Raises:
            ToolFailed: the caller may see no such repository, or several and named none.
        """
        seen = await self.visible(caller, fresh=fresh)
        names = [each.name for each in seen]
        if name is None:
            if len(seen) == 1:
                return seen[0]
            if not seen:
                message = "There is no repository that you may see. Sign in, or ask an admin."
                raise ToolFailed("no_repository", message)
            message = f"Say which repository is meant with `repo`: {_listed(names)}."
            raise ToolFailed("repo_needed", message, {"repositories": names[:_MAX_LISTED]})
        exact = [each for each in seen if each.name == name]
        chosen = exact or [each for each in seen if each.name.lower() == name.lower()]
        if len(chosen) != 1:
            details = {"repositories": names[:_MAX_LISTED]}
            raise ToolFailed("no_such_repository", _none_of(name, names), details)
        return chosen[0]

    async def state(self, repo: str) -> State:
        """The current state of a repository's index."""
        found = [each for each in await self.all(fresh=False) if each.id == repo]
        return found[0].state if found else State()

    async def add(
        self, draft: Draft, holder: str = "", until: timedelta | None = None
    ) -> Repository:
        """Add a repository, and request its index.

        Args:
            draft: the repository.
            holder: who indexes it right away (``Leases.held``), "" for the portal.
            until: how long that holder has its lease.

        Raises:
            NameTaken: another one has its name, or its location with the same branch.
        """
        for each in await self.all():
            if (each.location, each.branch) == (draft.location, draft.branch):
                again = f"`porch codegraph index {each.name}` indexes it again"
                raise NameTaken(f"{draft.location} is there already, as {each.name}: {again}.")
            if each.name.lower() == draft.name.lower():
                where = f"{each.location} is called {each.name} already"
                raise NameTaken(f"{where}. Give this one another name with --name.")
        repo, now = secrets.token_hex(8), self._now()
        row = {
            "id": repo,
            "asked_branch": draft.branch,
            "tier": draft.tier.value if draft.tier else None,
            "groups": list(draft.groups),
            "state": "active",
            "created": now,
            **{n: getattr(draft, n) for n in ("org", "name", "kind", "location", "declared")},
            "created_by": draft.created_by,
        }
        begun = {"holder": holder, "until": now + until if until else None, "requested": now}
        try:
            async with self._database.begin() as connection:
                await connection.execute(insert(repositories).values(row))
                await connection.execute(insert(work).values(repo=repo, **begun))
        except IntegrityError:
            raise NameTaken(f"Somebody else has just added {draft.name}.") from None
        return await self.get(draft.name)

    async def regroup(self, repository: Repository, draft: Draft) -> None:
        """Set a repository's tier and groups to those of a draft; its organisation stays."""
        tier = draft.tier.value if draft.tier else None
        values = {"tier": tier, "groups": list(draft.groups), "declared": True}
        async with self._database.begin() as connection:
            chosen = update(repositories).where(repositories.c.id == repository.id)
            await connection.execute(chosen.values(**values))
        self._read = None

    async def remove(self, name: str, by: str | None = None) -> str:
        """Mark a repository as removed: nobody sees it any more, and its name is free.

        Returns:
            The id of the entry in the log of removals, by which it is purged.

        Raises:
            UnknownRepository: there is none of that name.
        """
        repository, now, entry = await self.get(name), self._now(), secrets.token_hex(8)
        # Names never contain a #; the row stays until everything else is purged.
        values = {"state": "removed", "removed": now, "name": f"{name}#{repository.id}"}
        logged = {"repo": repository.id, "org": repository.org, "name": name, "counts": {}}
        async with self._database.begin() as connection:
            mine = and_(repositories.c.id == repository.id, repositories.c.state == "active")
            done = await connection.execute(update(repositories).where(mine).values(**values))
            if done.rowcount == 0:
                raise UnknownRepository(f"{name} has just been removed by somebody else.")
            row = insert(deletions).values(id=entry, requested=now, removed_by=by, **logged)
            await connection.execute(row)
        self._read = None
        return entry


_JOINED = repositories.outerjoin(work, work.c.repo == repositories.c.id).outerjoin(
    layers, layers.c.id == repositories.c.layer
)
_QUERY = (
    select(
        repositories,
        layers.c.generation,
        *(each.label(f"work_{each.name}") for each in work.c if each.name != "repo"),
    )
    .select_from(_JOINED)
    .where(repositories.c.state == "active")
    .order_by(repositories.c.name)
)


def _repository(row: Row[Any], now: datetime, default: Tier) -> Repository:
    generation = row.generation or 0
    return Repository(
        id=row.id,
        org=row.org,
        name=row.name,
        kind=row.kind,
        location=row.location,
        branch=row.asked_branch,
        tier=Tier(row.tier) if row.tier else default,
        groups=tuple(row.groups),
        declared=row.declared,
        layer=row.layer,
        generation=generation,
        commit=row.commit or "",
        on=row.branch or "",
        indexed=row.indexed,
        problem=row.problem,
        embedded=(row.embedded_layer, row.embedded_generation) == (row.layer, generation),
        vectors_of=row.embedded_layer,
        scip=row.scip,
        state=_state(row, now),
        tier_given=row.tier is not None,
    )


def _state(row: Row[Any], now: datetime) -> State:
    held = bool(row.work_holder) and row.work_until is not None and row.work_until > now
    return State(
        holder=row.work_holder if held else "",
        requested=row.work_requested,
        done=row.work_done or 0,
        total=row.work_total or 0,
        message=row.work_message or "",
        error=row.work_error or "",
        failures=row.work_failures or 0,
        finished=row.work_finished,
        summary=row.work_summary or {},
    )


def _none_of(name: str, names: Sequence[str]) -> str:
    if not names:
        return f"There is no repository {name[:80]!r}, nor any other that you may see."
    near = difflib.get_close_matches(name, names, n=3)
    meant = f" Is {' or '.join(near)} meant?" if near else ""
    return f"There is no repository {name[:80]!r} that you may see.{meant} There: {_listed(names)}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more
