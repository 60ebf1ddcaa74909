"""Builds what asks models and agents, for ``offer.py`` and for commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.contract import Host, Job, Work
from plugins.codegraph.config import JustificationRules
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.opinions.agent_work import AgentWork
from plugins.codegraph.justification.opinions.asking import Asker
from plugins.codegraph.justification.opinions.level_job import LevelJob
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.opinions.plan import Planner
from plugins.codegraph.justification.opinions.ripples import Ripples
from plugins.codegraph.justification.opinions.run_loop import JOB, RunLoop
from plugins.codegraph.justification.opinions.runs import Runs
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.store.store import GraphStore


@dataclass(frozen=True, slots=True)
class OpinionParts:
    """What asks models and agents.

    Attributes:
        runs: how far runs are.
        planner: makes plans.
        agents: asks members' agents; None where they are not to be asked.
        loop: goes on with runs.
        level: the job of a level.
    """

    runs: Runs
    planner: Planner
    agents: AgentWork | None
    loop: RunLoop
    level: LevelJob

    @classmethod
    def of(
        cls,
        rules: JustificationRules,
        host: Host,
        repositories: Repositories,
        graphs: tuple[GraphStore, Justifier],
        now: Callable[[], datetime],
    ) -> OpinionParts:
        """Build the parts.

        Args:
            rules: who is asked.
            host: the plugin's services.
            repositories: the registry.
            graphs: the graphs, and what says what facts say of them.
            now: the time, in UTC.
        """
        store, justifier = graphs
        opinions, runs = Opinions(host.database), Runs(host.database, now)
        planner = Planner(store, justifier, opinions)
        ripples = Ripples(host.database, opinions, host.embedder)
        agents = AgentWork(host.work, host.database, repositories, opinions, ripples, justifier)
        asked = agents if rules.agents else None
        asker = Asker(host.models, now) if rules.model else None
        level = LevelJob(repositories, runs, planner, justifier, opinions, ripples, asker, asked)
        return cls(runs, planner, asked, RunLoop(runs, host.jobs, asked, now), level)

    @property
    def asks(self) -> bool:
        """Whether anybody is asked."""
        return self.level.asker is not None or self.agents is not None

    def jobs(self) -> Sequence[Job]:
        """The job, where anybody is asked."""
        return (Job(JOB, self.level.run),) if self.asks else ()

    def work(self) -> Sequence[Work]:
        """The kind of work, where agents are asked."""
        return () if self.agents is None else (self.agents.declared(),)
