"""Workflows as prompts: a person picks one, and the agent is told how to walk it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Prompt, PromptFamily, Tier
from gateway.toolkit.counts import counted
from plugins.workflows.plans.plan import Plan, PlanItem, visible_to
from plugins.workflows.plans.plans import Plans
from plugins.workflows.store.workflow_prompts import PREFIX, PromptWorkflows, WorkflowPrompt

MAX_SUMMARY_CHARS = 300
"""Characters of a description that a list of prompts shows."""


class WorkflowTask(BaseModel):
    """What a workflow is to be followed for."""

    model_config = ConfigDict(extra="forbid")

    task: str = Field(
        "", description="What to do, in a sentence: what the workflow is followed for."
    )


def family(shortlist: PromptWorkflows, plans: Plans) -> PromptFamily:
    """The prompts ``workflow-*``: the portal's workflows, the caller's own and their library.

    Args:
        shortlist: which workflows those are.
        plans: their steps.
    """

    async def listed(caller: Caller, after: str | None, limit: int) -> Sequence[Prompt]:
        return [_prompt(each, plans) for each in await shortlist.page(caller.person, after, limit)]

    async def find(name: str, caller: Caller) -> Prompt | None:
        found = await shortlist.find(name, caller.person)
        return None if found is None else _prompt(found, plans)

    return PromptFamily(
        name=f"{PREFIX}*",
        summary="A workflow of the playbook, to be followed step by step: the portal's, your own "
        "and those in your library.",
        listed=listed,
        find=find,
        tier=Tier.OPEN,
        title="Follow a workflow",
    )


def _prompt(workflow: WorkflowPrompt, plans: Plans) -> Prompt:
    async def render(args: Any, caller: Caller) -> str:
        known = await plans.of_workflow(workflow.id, caller.person)
        plan = visible_to(known.plan, caller.person)
        return prompt_text(
            plan, known.workflow.description, args.task, signed_in=not caller.anonymous
        )

    summary = workflow.description or f"Follow the workflow {workflow.name}, step by step."
    return Prompt(
        name=workflow.prompt,
        summary=_shortened(summary),
        render=render,
        args=WorkflowTask,
        title=workflow.name,
    )


def _shortened(summary: str) -> str:
    if len(summary) <= MAX_SUMMARY_CHARS:
        return summary
    return summary[: MAX_SUMMARY_CHARS - 2].rstrip() + " …"


def prompt_text(plan: Plan, description: str | None, task: str, *, signed_in: bool) -> str:
    """A plan in words, and how to walk it.

    Args:
        plan: the steps that the reader may see.
        description: the workflow's.
        task: what to follow it for, or "".
        signed_in: whether the reader may keep a run.
    """
    steps = "\n".join(_step(item) for item in plan.items)
    parts = [
        f'Follow the workflow "{plan.workflow_name}", step by step.',
        f"The task: {task}" if task.strip() else "",
        description or "",
        f"It has {counted(len(plan.items), 'step')}:\n\n{steps}"
        if plan.items
        else "It has no steps yet.",
        _how_to_walk(plan, signed_in) if plan.items else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _step(item: PlanItem) -> str:
    what = f": {item.description}" if item.description else ""
    return f"- step {item.index} ({item.stage_name}): {item.name}{what}"


def _how_to_walk(plan: Plan, signed_in: bool) -> str:
    named = f'workflow_id "{plan.workflow_id}"'
    if not signed_in:
        return (
            f"Begin with get_next_step, {named} and step_index 0: it gives what to do in that "
            "step. Do it, then ask for step_index 1, and so on to the last step. Skip none."
        )
    return (
        f"Begin with select_workflow, {named} and start_run true, and note the run's id. Then call "
        f"get_next_step with {named} and that run_id: it gives what to do in the next step. Do it, "
        "then call it again, until there is no step left. Skip none. At the end call finish_run."
    )
