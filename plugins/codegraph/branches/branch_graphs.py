"""The graph of a branch for who asks: as it is kept, or made while they wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gateway.contract import Exchange, Host, Job, JobRun, Jobs, ToolFailed
from gateway.toolkit.job_waiting import UNDER_WAY
from gateway.toolkit.retry import backoff
from plugins.codegraph.branches.branches import Branch, Branches
from plugins.codegraph.branches.builder import NO_SUCH_BRANCH, BranchBuilder
from plugins.codegraph.git.command import GitFailed
from plugins.codegraph.git.trees import local_heads
from plugins.codegraph.repositories.leases import Busy, Gone
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository
from plugins.codegraph.repositories.urls import BadAddress, checked_branch
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner

BRANCH = "branch"
"""The job that brings a branch's layer up to date."""
CONCURRENCY = 4
CHECK_INTERVAL = timedelta(minutes=1)
"""How long the host is not asked again where a branch is, unless it tells that it moved."""
WAIT_TIMEOUT_S, CHECK_TIMEOUT_S = 20.0, 3.0
"""Seconds that a call waits for a branch that cannot be answered from yet, and for one that can,
while the host is asked whether it moved."""
LEASE_TIMEOUT_S = 600.0
"""Seconds that a job waits until nobody else works on the repository."""
_POLL_INTERVAL_S = 0.1
_SOON, _LATER = 0.1, 2.0


@dataclass(eq=False, repr=False)
class BranchGraphs:
    """Opens the graphs of branches, and has them made.

    Attributes:
        repositories: the registry.
        branches: which branches have a layer.
        builder: makes the layers.
        jobs: the plugin's jobs.
        exchange: gives the running call, whose client receives the progress.
        now: the time, in UTC.
    """

    repositories: Repositories
    branches: Branches
    builder: BranchBuilder
    jobs: Jobs
    exchange: Callable[[], Exchange]
    now: Callable[[], datetime]
    _running: dict[tuple[str, str], str] = field(default_factory=dict)
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, host: Host, repositories: Repositories, builder: BranchBuilder) -> BranchGraphs:
        """The graphs on a portal's services."""
        serving = host.jobs, host.exchange, builder.now
        return cls(repositories, builder.branches, builder, *serving)

    def declared(self) -> list[Job]:
        """The job that makes layers."""
        return [Job(BRANCH, self.run, concurrency=CONCURRENCY)]

    async def open(self, repository: Repository, name: str) -> tuple[RepositoryView, Branch]:
        """The view of a repository on a branch, and what is known of the branch.

        Args:
            repository: the repository, which has an index.
            name: the branch.

        Raises:
            ToolFailed: there is no such branch, it cannot be read, or is not yet.
        """
        try:
            checked_branch(name)
        except BadAddress as bad:
            raise ToolFailed("bad_input", f"{bad} Give what `git branch` prints.") from None
        owner = Owner(repository.org, repository.id)
        known = await self.branches.of(owner, name)
        view = await self.builder.store.view(owner.org, owner.repo)
        if not await self._holds(repository, known, view):
            await self._settled(repository, name, WAIT_TIMEOUT_S)
        elif known is not None and self._is_old(repository, known):
            await self._checked(repository, name)
        known = await self.branches.of(owner, name)
        view = await self.builder.store.view(owner.org, owner.repo)
        if known is None or view is None or not known.lies_over(view):
            raise ToolFailed(
                "branch_not_ready",
                f"The branch {name} of {repository.name} is being read. Ask again in a minute.",
            )
        await self.branches.note_use(owner, known, self.now())
        return known.over(view), known

    async def pushed(self, repository: Repository, name: str) -> str:
        """Have a branch that has a layer read again, since it moved or went; the job's id.

        Until that is done, nobody is answered from the layer before.
        """
        await self.branches.note_push(Owner(repository.org, repository.id), name, self.now())
        self._running.pop((repository.id, name), None)  # it may have looked before the push
        return await self._begun(repository, name)

    async def has(self, repository: Repository, name: str) -> bool:
        """Whether a branch has a layer."""
        owner = Owner(repository.org, repository.id)
        return await self.branches.of(owner, name) is not None

    async def run(self, run: JobRun, payload: Mapping[str, Any]) -> Any:
        """Bring the layer of ``branch`` of the repository ``repo`` up to date."""
        began = time.monotonic()
        for pause in backoff(_SOON, _LATER):
            repository = await self.repositories.by_id(str(payload["repo"]))
            if repository is None:
                break
            try:
                name = str(payload["branch"])
                return await self.builder.make(repository, name, run.id, run.progress)
            except Gone:
                break
            except Busy as busy:
                if time.monotonic() - began > LEASE_TIMEOUT_S:
                    raise ToolFailed("busy", f"{busy} Ask again when that is done.") from None
                run.progress(0, 0, "waiting for the index")
                await asyncio.sleep(pause)
        return {"skipped": "The repository was removed."}

    async def _holds(
        self, repository: Repository, known: Branch | None, view: RepositoryView | None
    ) -> bool:
        """Whether what is kept of a branch can be answered from, for all that is known here."""
        if known is None or view is None or not known.lies_over(view) or known.moved:
            return False
        if repository.kind == "git":
            return True
        try:
            heads = await local_heads(self.builder.builder.root(repository))
        except GitFailed:
            return False
        return heads.get(known.name) == known.commit

    def _is_old(self, repository: Repository, known: Branch) -> bool:
        return repository.kind == "git" and known.checked < self.now() - CHECK_INTERVAL

    async def _checked(self, repository: Repository, name: str) -> None:
        """Ask where a branch is that can be answered from; who cannot be asked keeps nobody."""
        try:
            await self._settled(repository, name, CHECK_TIMEOUT_S)
        except ToolFailed as failed:
            if failed.code == NO_SUCH_BRANCH:
                raise

    async def _settled(self, repository: Repository, name: str, seconds: float) -> None:
        """Wait until a branch is up to date, or the time is up."""
        id = await self._begun(repository, name)
        began, told = time.monotonic(), ""
        while (waited := time.monotonic() - began) < seconds:
            status = await self.jobs.status(id)
            if status is None or status.state not in UNDER_WAY:
                self._running.pop((repository.id, name), None)
                if status is not None and status.state == "failed":
                    raise ToolFailed(status.failure or "branch_not_read", status.error or "")
                return
            if status.message != told:
                told = status.message
                await self.exchange().progress(waited, message=f"{repository.name}: {told}")
            await asyncio.sleep(_POLL_INTERVAL_S)

    async def _begun(self, repository: Repository, name: str) -> str:
        """The id of the job that brings a branch up to date: one that does so now, or a new one."""
        key = repository.id, name
        async with self._beginning:
            running = self._running.get(key)
            if running is not None:
                status = await self.jobs.status(running)
                if status is not None and status.state in UNDER_WAY:
                    return running
            # Another replica may have begun one too: whichever comes second finds it done.
            id = await self.jobs.enqueue(BRANCH, {"repo": repository.id, "branch": name})
            self._running[key] = id
            return id
