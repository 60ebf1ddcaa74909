"""The durable jobs on repositories: a heavy queue for indexing, and a light one for the rest.

Light jobs (vectors, removals, expiry) wait for a model or a database, and continue while a large
index is made (kap10, "Temporal Worker Task Queue Segregation").
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.contract import Host, Job, JobRun
from plugins.codegraph.health.reports import HealthReports
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.opinions.parts import OpinionParts
from plugins.codegraph.repositories.build import IndexBuilder
from plugins.codegraph.repositories.leases import Busy, Gone, Leases
from plugins.codegraph.repositories.purge import Purger
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository

INDEX, SCIP, UPKEEP, AUDIT, SWEEP = "index", "scip", "upkeep", "audit", "sweep"
UPKEEP_CONCURRENCY = 4
_DAILY, _QUARTERLY = "23 3 * * *", "*/15 * * * *"
_PURGE_ATTEMPTS = 20
"""How many times, every half second, a purge waits for the repository's lease."""


def index_key(repository: Repository, now: datetime) -> str:
    """What tells one request of an index from every other, so that one job answers it.

    It changes every ten minutes, to retry a job that could not record its failure.
    """
    requested = repository.state.requested
    asked = "" if requested is None else requested.isoformat()
    return f"index/{repository.id}/{asked}/{now:%Y%m%d%H%M}"[:-1]


Progress = Callable[[int, int, str], None]
Embed = Callable[[str, str, Progress], Awaitable[int]]
"""``await embed(org, repo, progress)``: makes missing vectors; returns how many."""
Check = Callable[[str, str, Progress], Awaitable[dict[str, Any] | None]]
"""``await check(org, repo, progress)``: adds the edges of SCIP indexers; returns the record."""
Sweep = Callable[[], Awaitable[int]]
"""``await sweep()``: deletes what has expired; returns how much."""


@dataclass(frozen=True, slots=True)
class RepositoryJobs:
    """Runs the jobs.

    Attributes:
        host: the plugin's services.
        repositories: the registry.
        leases: the leases on repositories.
        builder: makes indexes.
        purger: purges removed repositories.
        embed: makes vectors, or None if the portal has no model.
        sweeps: delete what has expired.
        check: runs the SCIP indexers, or None if that is turned off.
        health: makes health reports, or None for none.
        justifier: says why the code exists, and who lags behind in that.
        opinions: asks models and agents why it does, or None where nobody is to be asked.
    """

    host: Host
    repositories: Repositories
    leases: Leases
    builder: IndexBuilder
    purger: Purger
    embed: Embed | None
    sweeps: Sequence[Sweep]
    check: Check | None = None
    health: HealthReports | None = None
    justifier: Justifier | None = None
    opinions: OpinionParts | None = None

    def declared(self) -> Sequence[Job]:
        """The jobs, each with its queue."""
        return (
            Job(INDEX, self.index),
            Job(SCIP, self.scip),
            Job(UPKEEP, self.upkeep, concurrency=UPKEEP_CONCURRENCY),
            Job(AUDIT, self.audit, schedule=_DAILY),
            Job(SWEEP, self.sweep, schedule=_QUARTERLY),
        )

    async def index(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Index the repository ``repo``, if that is still requested."""
        repo = str(payload["repo"])
        return {"repo": repo, **await self._indexed(run, await self.repositories.by_id(repo))}

    async def _indexed(self, run: JobRun, repository: Repository | None) -> dict[str, Any]:
        if repository is None:
            return {"skipped": "It was removed."}
        # This holds after a crash too: a resumed job's own request stays open until it finishes.
        if repository.state.requested is None and repository.layer is not None:
            return {"skipped": "Somebody else has made it."}
        try:
            return await self.builder.make(repository, run.id, run, run.progress, self.follow_up)
        except Gone:
            return {"skipped": "It was removed, or somebody else took it over."}
        except Busy as busy:
            await self.leases.request(repository.id)  # which leads to another job shortly
            return {"skipped": str(busy)}

    async def follow_up(self, repository: Repository) -> None:
        """Say at once what code that an index changed is for.

        A failure is only logged: the rules over the whole graph follow, and say it too.
        """
        if self.justifier is None:
            return
        try:
            await self.justifier.follow_up(repository.org, repository.id)
        except Exception as error:
            self.host.log.warning("not_followed_up", repository=repository.name, exc_info=error)

    async def scip(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Run the SCIP indexers over the repository ``repo``; no index waits for them."""
        repository = await self.repositories.by_id(str(payload["repo"]))
        if repository is None or self.check is None:
            return {"skipped": "There is nothing to check."}
        return await self.check(repository.org, repository.id, run.progress)

    async def upkeep(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Run a light task: ``embed`` or ``justify`` a repository, report on its ``health``, or
        ``purge`` a removed one."""
        if payload["task"] == "purge":
            return await self._purge(str(payload["entry"]), run.id)
        repository = await self.repositories.by_id(str(payload["repo"]))
        if payload["task"] == "health":
            return await self._reported(repository)
        if payload["task"] == "justify":
            return await self._justify(repository, run)
        if repository is None or self.embed is None:
            return {"skipped": "There is nothing to embed."}
        return {"vectors": await self.embed(repository.org, repository.id, run.progress)}

    async def _reported(self, repository: Repository | None) -> dict[str, Any]:
        if repository is None or self.health is None:
            return {"skipped": "There is nothing to report on."}
        root = self.builder.root(repository)
        return {"score": await self.health.make(repository.org, repository.id, root)}

    async def _justify(self, repository: Repository | None, run: JobRun) -> dict[str, Any]:
        if repository is None or self.justifier is None:
            return {"skipped": "There is nothing to justify."}
        whose = repository.org, repository.id, run.progress
        await run.step("read", self.justifier.read, *whose)
        found: dict[str, Any] = await run.step("judge", self.justifier.judge, *whose)
        return found

    async def audit(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Check removals for leftovers; alert if one is late."""
        late = await self.purger.audit()
        for deletion in late:
            self.host.log.error(
                "removal_late",
                repository=deletion.name,
                requested=deletion.requested.isoformat(),
                attempts=deletion.attempts,
                reason=deletion.error,
            )
        return {"late": [deletion.name for deletion in late]}

    async def sweep(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Delete what has expired."""
        return {"deleted": sum([await sweep() for sweep in self.sweeps])}

    async def _purge(self, entry: str, holder: str) -> Mapping[str, int]:
        for _ in range(_PURGE_ATTEMPTS):
            try:
                return await self.purger.purge(entry, holder)
            except Busy:
                await asyncio.sleep(0.5)
        return await self.purger.postpone(entry, "Somebody still works on it.")
