"""Goes on with runs, at each poll of a serving portal: a job for each level, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.contract import Jobs
from plugins.codegraph.justification.opinions.agent_work import AgentWork
from plugins.codegraph.justification.opinions.runs import Run, Runs
from plugins.codegraph.repositories.repository import Repository

JOB = "justify_level"
"""The name of the job."""
PAUSE = timedelta(minutes=10)
"""After which a job that failed is tried again."""
REST = timedelta(seconds=30)
"""After which what changed since the end of a run is asked about."""
_ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class RunLoop:
    """Goes on with runs.

    Attributes:
        runs: how far they are.
        jobs: the plugin's jobs.
        agents: what members' agents do; None where they are not asked.
        now: the time, in UTC.
    """

    runs: Runs
    jobs: Jobs
    agents: AgentWork | None
    now: Callable[[], datetime]

    async def look(self, found: Sequence[Repository]) -> None:
        """Go on with every run that can go on.

        Args:
            found: the repositories that are served.
        """
        known = {each.id: each for each in found}
        for run in await self.runs.all():
            if run.repo in known and known[run.repo].layer is not None:
                await self._see_to(run, known[run.repo])

    async def _see_to(self, run: Run, repository: Repository) -> None:
        if run.state == "requested":
            await self._start(run)
        elif run.state == "asking":
            status = await self.jobs.status(run.job) if run.job else None
            # A job that ends well has gone on with the run, so this one has died.
            if (status is None or status.state in _ENDED) and self._is_rested(run):
                await self._start(run)
        elif run.state == "agents":
            states = () if self.agents is None else (await self.agents.states(run.repo)).values()
            if not {"open", "answered"} & set(states):
                await self._start(run)
        elif run.state == "failed" and self._is_rested(run):
            await self._start(run)
        elif run.state == "done" and self._is_behind(run, repository):
            await self.runs.request(run.org, run.repo, everything=run.everything)

    def _is_behind(self, run: Run, repository: Repository) -> bool:
        """Whether code has changed since; somebody may save a file every second."""
        there = run.layer, run.generation
        changed = there != (repository.layer, repository.generation)
        return changed and self.now() - run.changed >= REST

    def _is_rested(self, run: Run) -> bool:
        return self.now() - run.changed >= PAUSE

    async def _start(self, run: Run) -> None:
        """Queue a job for the run's level; of several processes, one does."""
        mine = replace(run, attempt=run.attempt + 1)
        if not await self.runs.set(run, state="asking", attempt=mine.attempt, job="", problem=""):
            return
        payload = {"repo": run.repo, "run": run.id, "attempt": mine.attempt}
        job = await self.jobs.enqueue(JOB, payload, key=f"opinions/{run.id}/{mine.attempt}")
        await self.runs.set(mine, job=job)
