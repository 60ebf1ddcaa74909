"""The plans of workflows and of runs, for whoever asks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gateway.contract import ToolFailed
from plugins.workflows import errors
from plugins.workflows.model import Run, TargetType, Viewer, Workflow
from plugins.workflows.plans.plan import Plan, PlanItem, build, can_see, filter_steps, visible_to
from plugins.workflows.plans.plan_cache import PlanCache

if TYPE_CHECKING:
    from plugins.workflows.playbook import Playbook
    from plugins.workflows.store.runs import Runs

PLAN_CACHE_SIZE, PLAN_CACHE_SIZE_BYTES = 1_000, 32 * 1024 * 1024
"""Plans in memory at most, and about how many bytes their texts take."""
_STEP_BYTES = 1_000
"""About what a step takes beside its texts."""


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """One version of a workflow.

    Attributes:
        workflow: with its stages, but without the items in them.
        plan: all of its steps, whoever may see them.
    """

    workflow: Workflow
    plan: Plan


class RunPlan(NamedTuple):
    """The plan that a run follows.

    Attributes:
        plan: the steps of its version that its person may see now.
        total: how many steps the whole plan has; ``PlanItem.place`` counts them.
    """

    plan: Plan
    total: int


class Plans:
    """The plans of workflows and of runs, for whoever asks.

    Args:
        playbook: where workflows are read.
        runs: where the plans that runs follow are kept.
    """

    def __init__(self, playbook: Playbook, runs: Runs) -> None:
        self._playbook, self._runs = playbook, runs
        self._built: PlanCache[WorkflowPlan] = PlanCache(
            PLAN_CACHE_SIZE, PLAN_CACHE_SIZE_BYTES, lambda known: plan_size_bytes(known.plan)
        )
        self._older: PlanCache[Plan] = PlanCache(
            PLAN_CACHE_SIZE, PLAN_CACHE_SIZE_BYTES, plan_size_bytes
        )

    async def of_workflow(self, id_or_key: str, viewer: Viewer) -> WorkflowPlan:
        """A workflow with its whole plan; one cheap query where it is in memory.

        Raises:
            ToolFailed: there is none, or it is another's and private.
        """
        version = await self._playbook.workflow_version(id_or_key, viewer)
        known = await self._built.get(version, partial(self._read, version[0], viewer))
        # It was read for whoever asked first, and may be newer than the version that was looked up.
        if not can_see(viewer, known.workflow):
            raise errors.private("Workflow")
        return known

    async def of_run_workflow(self, run: Run) -> WorkflowPlan:
        """The workflow of a run as it is now.

        Raises:
            ToolFailed: it was deleted, which the error says, or is no longer shown to its person.
        """
        try:
            return await self.of_workflow(run.workflow, run.person)
        except ToolFailed:
            await self._playbook.check_kept(run.workflow, run.person)
            raise

    async def of_run(self, run: Run, known: WorkflowPlan) -> RunPlan:
        """The steps of a run that its person may see now.

        A step that was taken back since the run began is not shown any more.

        Args:
            run: whose.
            known: its workflow as it is now, read for the same person.
        """
        if known.plan.version == run.version:
            return RunPlan(visible_to(known.plan, run.person), len(known.plan.items))
        plan = await self._older.get((run.workflow, run.version), partial(self._pinned, run))
        seen = await self._seen_now(plan.items, run.person)
        return RunPlan(filter_steps(plan, lambda item: item.id in seen), len(plan.items))

    async def _read(self, workflow_id: str, viewer: Viewer) -> WorkflowPlan:
        workflow = await self._playbook.whole_workflow(workflow_id, viewer)
        plan = build(workflow, await self._playbook.automatic())
        stages = (replace(stage, items=(), item_order=None) for stage in workflow.stages)
        return WorkflowPlan(replace(workflow, stages=tuple(stages)), plan)

    async def _pinned(self, run: Run) -> Plan:
        plan = await self._runs.plan(run.workflow, run.version)
        if plan is None:
            raise errors.not_found("Run")
        try:
            return Plan.from_json(plan)
        except (KeyError, TypeError, ValueError) as error:
            of = f"{run.workflow} at version {run.version}"
            raise errors.Damaged(f"playbook_plans.plan of {of} is no plan: {error!r}") from None

    async def _seen_now(self, items: Sequence[PlanItem], viewer: Viewer) -> set[str]:
        """The ids of those steps' prompts and cards that someone may see now."""
        cards = {item.id for item in items if item.type == "skill"}
        prompts = {item.id for item in items} - cards
        seen = await self._playbook.prompts_shown(prompts, viewer)
        if cards:
            seen |= (await self._playbook.summaries(TargetType.SKILL, cards, viewer)).keys()
        return seen


def plan_size_bytes(plan: Plan) -> int:
    """About how many bytes a plan takes in memory."""
    return sum(
        _STEP_BYTES + sys.getsizeof(item.content) + len(json.dumps(dict(item.extra)))
        for item in plan.items
    )
