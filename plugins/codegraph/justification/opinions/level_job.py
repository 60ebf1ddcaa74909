"""The job that asks about one level of a repository: it may be killed anywhere, and goes on.

Each answer is kept in a transaction of its own. A job that runs again asks what has no answer yet;
where a budget or a provider is missing, the portal puts it back into its queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import JobRun, ModelFailed, Role
from plugins.codegraph.justification.justifier import Justifier, Progress
from plugins.codegraph.justification.opinions.agent_work import AgentWork
from plugins.codegraph.justification.opinions.asking import Asker, refused
from plugins.codegraph.justification.opinions.levels import Group
from plugins.codegraph.justification.opinions.opinion import AGENT
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.opinions.plan import Plan, Planner
from plugins.codegraph.justification.opinions.ripples import Ripples
from plugins.codegraph.justification.opinions.runs import Run, Runs
from plugins.codegraph.model import shown_key
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository

AT_ONCE = 4
"""Questions that are open at the same time."""
PUBLISHED = 200
"""Items of work of a repository that are open at the same time."""
_LATER = frozenset({"budget_reached", "throttled", "provider_down", "timeout"})
"""Failures for which the portal puts the job back into its queue."""


@dataclass(frozen=True, slots=True)
class LevelJob:
    """Asks about levels.

    Attributes:
        repositories: the registry.
        runs: how far runs are.
        planner: makes plans.
        justifier: puts together what is said.
        opinions: keeps answers.
        ripples: has callers asked again.
        asker: asks models; None where they are not to be asked.
        agents: asks members' agents; None where they are not to be asked.
    """

    repositories: Repositories
    runs: Runs
    planner: Planner
    justifier: Justifier
    opinions: Opinions
    ripples: Ripples
    asker: Asker | None
    agents: AgentWork | None

    async def run(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Ask about the level of a run that is at ``attempt``; then the run is at the next one."""
        repo = str(payload["repo"])
        repository, now = await self.repositories.by_id(repo), await self.runs.of(repo)
        if repository is None or now is None or now.id != payload["run"]:
            return {"skipped": "There is another run, or it was removed."}
        if now.attempt != payload["attempt"]:
            return {"skipped": "Another job has gone on with it."}
        try:
            return await self._level(repository, now, run.progress)
        except ModelFailed as failed:
            if failed.code in _LATER:
                raise
            await self.runs.set(now, state="failed", problem=failed.message[:500])
            return {"failed": failed.message}

    async def _level(self, repository: Repository, run: Run, progress: Progress) -> dict[str, Any]:
        org, repo = repository.org, repository.id
        plan = await self.planner.plan(org, repo, progress, everything=run.everything)
        if plan is None:
            return {"skipped": "It has no index."}
        level = plan.next_level(run.level)
        if level is None:
            await self.justifier.judge(org, repo, progress)
            return await self._finish(run, plan)
        found = plan.pending(level)
        by_model = [(group, role) for group in found if (role := self._role(plan, group))]
        if by_model:
            await self._ask(plan, by_model, progress)
        elif found and self.agents is not None:
            left = await self._publish(self.agents, repository, plan, found)
            if left:
                await self.justifier.judge(org, repo, progress)
                await self.runs.set(run, state="agents", **{**_at(plan), "level": level})
                return {"published": left}
        elif found:
            text = "This portal has no language model for it, and agents are not to be asked."
            raise ModelFailed("no_model", text)
        await self.justifier.judge(org, repo, progress)
        await self.runs.set(run, state="requested", **{**_at(plan), "level": level + 1})
        return {"level": level, "groups": len(found)}

    def _role(self, plan: Plan, group: Group) -> Role | None:
        return None if self.asker is None else self.asker.role(plan.role(group))

    async def _finish(self, run: Run, plan: Plan) -> dict[str, Any]:
        """Forget what was said of entities that are gone, and end the run."""
        there = {each.key for each in await self.opinions.of(plan.view)}
        await self.opinions.drop(run.org, run.repo, there - plan.used() - _keys(plan))
        if self.agents is not None:
            await self.agents.purge(run.org, run.repo)
        await self.runs.set(run, state="done", **_at(plan))
        return {"levels": len(plan.levels)}

    async def _ask(
        self, plan: Plan, groups: Sequence[tuple[Group, Role]], progress: Progress
    ) -> None:
        asker, turns, done = self.asker, asyncio.Semaphore(AT_ONCE), 0
        if asker is None:
            return
        view, failures = plan.view, list[Exception]()

        async def one(group: Group, role: Role) -> None:
            nonlocal done
            async with turns:
                if failures:
                    return
                try:
                    context = await plan.contexts.of(group)
                    found = await asker.ask(context, role, view.name)
                    await self.ripples.before(view.org, view.id, view.layer, found)
                    await self.opinions.put(view.org, view.id, found)
                except Exception as failed:
                    failures.append(failed)
                    return
            done += 1
            progress(done, len(groups), "asking a model what code is for")

        # What is under way when one fails is paid for, so it is waited for and kept.
        await asyncio.gather(*(one(group, role) for group, role in groups))
        if failures:
            raise failures[0]

    async def _publish(
        self, agents: AgentWork, repository: Repository, plan: Plan, found: Sequence[Group]
    ) -> int:
        """Have agents asked; returns for how many groups that is to be waited for."""
        states = await agents.states(repository.id)
        wanted = {shown_key(plan.columns.entities[group[0]].key): group for group in found}
        for key, state in states.items():
            if key not in wanted or state == "accepted":
                await agents.withdraw(repository.id, key)
        left = 0
        for key, group in list(wanted.items())[:PUBLISHED]:
            context = await plan.contexts.of(group)
            wrong = "agents did not agree, or were contradicted by the code each time"
            if states.get(key) != "unsettled":
                if await agents.publish(repository, context):
                    left += 1
                    continue
                wrong = "it does not fit into an item of work"
            await agents.withdraw(repository.id, key)
            none = refused(context, wrong, (AGENT, ""), self.runs.now())
            await self.opinions.put(plan.view.org, plan.view.id, none)
        return left


def _at(plan: Plan) -> dict[str, int]:
    """Where a plan was made."""
    view = plan.view
    return {
        "layer": view.layer,
        "generation": view.generation,
        "levels": len(plan.levels),
    }


def _keys(plan: Plan) -> set[int]:
    return {each.key for each in plan.columns.entities}
