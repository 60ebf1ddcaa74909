"""Deletes everything stored of a removed repository, and finds leftovers.

A removal is complete when no leftovers are found, within 24 hours (kap10, "24-Hour Deletion
SLA"). It is retried with increasing pauses, and audited every day.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from sqlalchemy import and_, delete, insert, select, update

from gateway.contract import Database, Objects
from plugins.codegraph.repositories.leases import Leases
from plugins.codegraph.repositories.tables import deletions, work
from plugins.codegraph.store.tables import layers, repositories

DEADLINE = timedelta(hours=24)
"""How long a removal may take."""
_RETRY_PAUSE, _MAX_RETRY_PAUSE = timedelta(seconds=10), timedelta(hours=1)
_AUDITED_FOR = timedelta(days=30)
"""How long the daily audit checks a completed removal."""


class Purgeable(Protocol):
    """Something that stores data of repositories; purging where there is none is no error."""

    async def purge(self, org: str, repo: str) -> int | Mapping[str, int]:
        """Delete all data of a repository; returns how much there was."""
        ...

    async def leftovers(self, org: str, repo: str) -> int | Mapping[str, int]:
        """How much data of a repository is left."""
        ...


class PurgeableFiles:
    """Files on disk: a working copy, caches.

    Args:
        directories: contain entries whose names begin with a repository's id.
    """

    def __init__(self, *directories: Path) -> None:
        self._directories = directories

    async def purge(self, org: str, repo: str) -> int:
        """Delete them; returns the number. Raises ``OSError`` if one cannot be deleted."""
        return await asyncio.to_thread(self._purge, repo)

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of entries."""
        return len(await asyncio.to_thread(self._found, repo))

    def _purge(self, repo: str) -> int:
        found = self._found(repo)
        for path in found:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return len(found)

    def _found(self, repo: str) -> list[Path]:
        listed: list[Path] = []
        for directory in self._directories:
            with contextlib.suppress(FileNotFoundError):
                listed += [each for each in directory.iterdir() if each.name.startswith(repo)]
        return listed


class PurgeableObjects:
    """Objects in the object store, under the repository's id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    async def purge(self, org: str, repo: str) -> int:
        """Delete them; returns the number."""
        keys = await self._keys(repo)
        await self._objects.delete(*keys)
        return len(keys)

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of objects."""
        return len(await self._keys(repo))

    async def _keys(self, repo: str) -> list[str]:
        return [info.key async for info in self._objects.list(f"{repo}/")]


@dataclass(frozen=True, slots=True)
class Deletion:
    """One entry in the log of removals.

    Attributes:
        id: its id.
        repo, org, name: what was removed.
        requested: when.
        tried: when the last attempt to purge it was, or None.
        attempts: the number of attempts.
        completed: when no leftovers were found, or None.
        counts: how much was deleted, by kind.
        error: why the last attempt failed.
    """

    id: str
    repo: str
    org: str
    name: str
    requested: datetime
    tried: datetime | None
    attempts: int
    completed: datetime | None
    counts: Mapping[str, int]
    error: str

    def is_due(self, now: datetime) -> bool:
        """Whether the next attempt is due."""
        if self.completed is not None:
            return False
        pause = min(_RETRY_PAUSE * 2 ** min(self.attempts, 12), _MAX_RETRY_PAUSE)
        return self.tried is None or now >= self.tried + pause

    def is_late(self, now: datetime) -> bool:
        """Whether it has taken longer than :data:`DEADLINE`."""
        return self.completed is None and now > self.requested + DEADLINE


class Purger:
    """Purges removed repositories.

    Args:
        database: the plugin's database.
        work: the leases that it needs for purging.
        kept: everything that stores data of repositories, by its name in the log.
        now: the time, in UTC.
        whole: whether ``kept`` is complete; if not, a removal stays open for the portal.
    """

    def __init__(
        self,
        database: Database,
        work: Leases,
        kept: Mapping[str, Purgeable],
        now: Callable[[], datetime],
        *,
        whole: bool = True,
    ) -> None:
        self._database, self._work, self._kept, self._now = database, work, kept, now
        self._whole = whole

    async def log(self, *, is_open: bool = False) -> Sequence[Deletion]:
        """The log of removals, newest first."""
        columns = [each for each in deletions.c if each.name != "removed_by"]
        query = select(*columns).order_by(deletions.c.requested.desc())
        if is_open:
            query = query.where(deletions.c.completed.is_(None))
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [Deletion(**row._mapping) for row in rows]

    async def purge(self, entry: str, holder: str) -> Mapping[str, int]:
        """Delete everything stored of a removed repository.

        If one store fails, it continues with the others; it may be called again at any time.

        Args:
            entry: the id in the log.
            holder: the holder of the lease (``Leases.held``).

        Returns:
            How much was deleted, by kind, since the removal.

        Raises:
            Busy: somebody still works on it; they stop within a second of the removal.
            PurgeFailed: something could not be deleted, or is left.
        """
        found = [each for each in await self.log() if each.id == entry]
        if not found or found[0].completed is not None:
            return found[0].counts if found else {}
        deletion = found[0]
        async with self._work.held(deletion.repo, holder, removed=True):
            counts, problems = await self._deleted(deletion)
        left = {} if problems else await self.leftovers(deletion.org, deletion.repo)
        problems += [f"{count} of {name} are there still" for name, count in left.items()]
        completed = None if problems or not self._whole else self._now()
        values = {"counts": counts, "error": "; ".join(problems)[:2000], "completed": completed}
        # A purge that a command leaves to the portal does not count as a failed attempt.
        tried = {"tried": self._now(), "attempts": deletion.attempts + 1} if self._whole else {}
        async with self._database.begin() as connection:
            logged = update(deletions).where(deletions.c.id == entry)
            await connection.execute(logged.values(**values, **tried))
            if completed is not None:
                await connection.execute(delete(work).where(work.c.repo == deletion.repo))
                gone = and_(repositories.c.id == deletion.repo, repositories.c.state == "removed")
                await connection.execute(delete(repositories).where(gone))
        if problems:
            raise PurgeFailed(f"{deletion.name}: {'; '.join(problems)}")
        return counts

    async def postpone(self, entry: str, reason: str) -> Mapping[str, int]:
        """Count an attempt that could not begin, so that the next one is later."""
        which = update(deletions).where(deletions.c.id == entry, deletions.c.completed.is_(None))
        tried = {"tried": self._now(), "attempts": deletions.c.attempts + 1, "error": reason}
        async with self._database.begin() as connection:
            await connection.execute(which.values(**tried))
        return {}

    async def leftovers(self, org: str, repo: str) -> dict[str, int]:
        """What is left of a repository, by kind; empty if nothing is."""
        found: dict[str, int] = {}
        for name, kept in self._kept.items():
            for each, count in _by_name(name, await kept.leftovers(org, repo)).items():
                found[each] = found.get(each, 0) + count
        return {name: count for name, count in found.items() if count}

    async def audit(self) -> Sequence[Deletion]:
        """Check removals, and reopen those with leftovers.

        Returns:
            The removals that are late.
        """
        now = self._now()
        for deletion in await self.log():
            if deletion.completed is None or deletion.completed < now - _AUDITED_FOR:
                continue
            if left := await self.leftovers(deletion.org, deletion.repo):
                names = ", ".join(f"{count} of {name}" for name, count in left.items())
                values = {"completed": None, "error": f"The audit found leftovers: {names}."}
                async with self._database.begin() as connection:
                    which = update(deletions).where(deletions.c.id == deletion.id)
                    await connection.execute(which.values(**values))
        await self._take_in_orphans(now)
        return [each for each in await self.log(is_open=True) if each.is_late(now)]

    async def _deleted(self, deletion: Deletion) -> tuple[dict[str, int], list[str]]:
        counts, problems = dict(deletion.counts), []
        for name, kept in self._kept.items():
            try:
                deleted = await kept.purge(deletion.org, deletion.repo)
            except Exception as error:  # try every store, even if another failed
                problems.append(f"{name}: {error or type(error).__name__}")
                continue
            for each, count in _by_name(name, deleted).items():
                counts[each] = counts.get(each, 0) + count
        return {name: count for name, count in counts.items() if count}, problems

    async def _take_in_orphans(self, now: datetime) -> None:
        """Log repositories that have rows but are neither in the registry nor in the log."""
        known = select(repositories.c.id).union(select(deletions.c.repo))
        query = select(layers.c.org, layers.c.repo).distinct().where(layers.c.repo.not_in(known))
        async with self._database.begin() as connection:
            for org, repo in (await connection.execute(query)).all():
                entry = {"id": f"orphan-{repo}", "repo": repo, "org": org, "name": f"#{repo}"}
                await connection.execute(
                    insert(deletions).values(**entry, requested=now, counts={})
                )


class PurgeFailed(Exception):
    """Something of a removed repository is left; the message says what, and why."""


def _by_name(name: str, counted: int | Mapping[str, int]) -> dict[str, int]:
    return dict(counted) if isinstance(counted, Mapping) else {name: counted}
