"""The tools that bring a workflow to an agent: select it, walk it, read it and its cards."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tool, ToolFailed
from plugins.workflows import errors, limits
from plugins.workflows.history import History
from plugins.workflows.model import AutoPrompt, Run, Stage, TargetType, Viewer, Workflow
from plugins.workflows.plans.plan import Plan, PlanItem, visible_to
from plugins.workflows.plans.plans import Plans, RunPlan, WorkflowPlan
from plugins.workflows.playbook import Playbook
from plugins.workflows.previews import difference
from plugins.workflows.store.ratings import Ratings
from plugins.workflows.store.runs import Runs, no_such_step
from plugins.workflows.store.version_contents import workflow_content
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import ADDS, Wire, open_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.results.base import shared_fields
from plugins.workflows.tools.results.execution import (
    AttachmentContent,
    AttachmentInfo,
    ChangesInfo,
    ExecutionPlan,
    NextStep,
    OriginInfo,
    SelectedWorkflow,
    SkillCard,
    StageDetails,
    StageInfo,
    StageItemInfo,
    StepInfo,
    WorkflowDetails,
    WorkflowHead,
)
from plugins.workflows.tools.results.ratings import StandingInfo
from plugins.workflows.tools.results.runs import RunInfo

MAX_OPEN_RUNS_SHOWN = 10
NEEDS_SIGN_IN = (
    "No run was started: runs need a sign-in. Walk the plan with get_next_step, by workflow_id "
    "and step_index."
)
NO_STEPS = "No run was started: the workflow has no steps."

WorkflowId = Annotated[Name, Field(description="The workflow's id or key; not its name.")]
SkillId = Annotated[Name, Field(description="The skill card's id or key; not its name.")]
StepIndex = Annotated[int | None, Field(ge=0, description="The step's number in the plan, from 0.")]


def tools(
    playbook: Playbook, plans: Plans, runs: Runs, ratings: Ratings, history: History
) -> list[Tool]:
    """The tools, in the order in which an agent needs them."""
    execution = Execution(playbook, plans, runs, ratings, history)
    return [*_execution_tools(execution), *_read_tools(execution)]


def _execution_tools(execution: Execution) -> list[Tool]:
    async def select_workflow(
        workflow_id: WorkflowId, start_run: bool = False, *, caller: Caller
    ) -> Wire:
        """Select the workflow that fits the task, and get its execution plan: its steps in order,
        without their content. Then call `get_next_step` for one step at a time, do what it says,
        and go on to the next.

        Args:
            start_run: Start a run, which remembers how far you are, so that you can go on later or
                elsewhere. Needs a sign-in.
        """
        return (await execution.select(workflow_id, start_run, caller.person)).wire()

    async def get_next_step(
        workflow_id: Annotated[
            Name | None, Field(description="The workflow's id or key; not needed with run_id.")
        ] = None,
        step_index: StepIndex = None,
        current_step: Annotated[
            int | None, Field(ge=0, description="Another name of step_index.")
        ] = None,
        run_id: Annotated[
            Name | None,
            Field(
                description="Your run's id: the step is recorded in it. Without a step_index, the "
                "step after the last one comes."
            ),
        ] = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Get one step of a selected workflow, with its content: what to do now. Begin with
        step_index 0 and go on with `nextIndex` while `hasNext`; or give run_id alone, again and
        again. Files of a step come with `get_attachment`, by the step's `id` and their names."""
        asked = StepRequest(workflow_id, _one_of(step_index, current_step), run_id)
        return (await execution.step(asked, caller)).wire()

    return [
        open_tool(select_workflow, "Select a workflow", SelectedWorkflow, ADDS),
        open_tool(get_next_step, "Get the next step", NextStep, ADDS),
    ]


def _read_tools(execution: Execution) -> list[Tool]:
    async def get_workflow(
        workflow_id: WorkflowId,
        include_content: bool = False,
        changed_since: Annotated[
            int | None,
            Field(ge=1, le=limits.MAX_VERSION, description="A version of your own workflow."),
        ] = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Get everything that a workflow holds: its version, stages, their settings, and the
        mini-prompts and skill cards in them with their ids, which `edit_workflow` needs. To follow
        a workflow, use `select_workflow`.

        Args:
            include_content: Whether the texts of mini-prompts and skill cards come too.
            changed_since: One of its older versions, to see in `changes` what is new since then.
        """
        who = caller.person
        found = await execution.workflow(workflow_id, include_content, who, changed_since)
        return found.wire()

    async def get_selected_skill(skill_id: SkillId, *, caller: Caller) -> Wire:
        """Get a skill card of the playbook, with its whole content and the names of its files.
        `get_skills` finds cards. These are cards that members write for workflows; skills from
        repositories are read with other tools."""
        return (await execution.skill(skill_id, caller.person)).wire()

    async def get_attachment(
        skill_id: SkillId,
        name: Annotated[Name, Field(description="The file's name, as `attachments` has it.")],
        *,
        caller: Caller,
    ) -> Wire:
        """Get a file of one of the playbook's skill cards, in Base64."""
        return (await execution.attachment(skill_id, name, caller.person)).wire()

    return [
        open_tool(get_workflow, "Get a workflow", WorkflowDetails),
        open_tool(get_selected_skill, "Get a skill card", SkillCard),
        open_tool(get_attachment, "Get a file of a skill card", AttachmentContent),
    ]


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Which step: of a workflow by its index, or of a run."""

    workflow_id: str | None
    index: int | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """What the tools do."""

    playbook: Playbook
    plans: Plans
    runs: Runs
    ratings: Ratings
    history: History

    async def select(self, workflow_id: str, start_run: bool, who: Viewer) -> SelectedWorkflow:
        """A workflow with its plan and the caller's runs of it; starts one if asked."""
        known = await self.plans.of_workflow(workflow_id, who)
        workflow, plan = known.workflow, visible_to(known.plan, who)
        running = [] if who is None else await self._running(known, who)
        run, note = await self._started(known, plan, who) if start_run else (None, None)
        return SelectedWorkflow(
            **WorkflowHead.fields_of(workflow, who),
            stages=[StageInfo(**shared_fields(StageInfo, each)) for each in workflow.stages],
            execution_plan=ExecutionPlan.of(plan),
            run=run and RunInfo.of(run, plan),
            open_runs=running,
            note=note,
        )

    async def _running(self, known: WorkflowPlan, person: str) -> list[RunInfo]:
        told = []
        for run in await self.runs.listed(person, known.workflow.id, "open", MAX_OPEN_RUNS_SHOWN):
            try:
                plan = (await self.plans.of_run(run, known)).plan
            except errors.Damaged:
                plan = None
            told.append(RunInfo.of(run, plan))
        return told

    async def _started(
        self, known: WorkflowPlan, plan: Plan, who: Viewer
    ) -> tuple[Run | None, str | None]:
        if who is None:
            return None, NEEDS_SIGN_IN
        if not plan.items:
            return None, NO_STEPS
        workflow = known.workflow
        return await self.runs.start(who, workflow.id, workflow.version, known.plan.to_json()), None

    async def step(self, asked: StepRequest, caller: Caller) -> NextStep:
        """One step, recorded in the run if one was named."""
        if asked.run_id is not None:
            return await self._step_of_run(asked, asked.run_id, signed_in(caller))
        if asked.workflow_id is None:
            raise errors.bad_input("Give workflow_id and step_index, or run_id.")
        if asked.index is None:
            raise errors.bad_input("Give step_index, which starts at 0, or run_id.")
        known = await self.plans.of_workflow(asked.workflow_id, caller.person)
        plan = visible_to(known.plan, caller.person)
        return step_answer(plan, _step_at(plan, asked.index))

    async def _step_of_run(self, asked: StepRequest, run_id: str, person: str) -> NextStep:
        run = await self.runs.get(person, run_id)
        if asked.workflow_id in (None, run.workflow):
            known = await self.plans.of_run_workflow(run)
        else:
            known = await self.plans.of_workflow(asked.workflow_id, person)
        if known.workflow.id != run.workflow:
            raise errors.bad_input(
                f"The run {run.id} is of another workflow, {run.workflow}. Leave workflow_id out "
                "to go on with it, or start a run with select_workflow."
            )
        followed = await self.plans.of_run(run, known)
        if asked.index is None:
            item = await self._following(run, followed)
        else:
            item = _step_at(followed.plan, asked.index, in_run=True)
            await self.runs.advance(person, run.id, item.place, followed.total)
        return step_answer(followed.plan, item, run, known.workflow.version)

    async def _following(self, run: Run, followed: RunPlan) -> PlanItem:
        """The step after the last one that was handed out, and that may be seen."""
        places = {item.place: item for item in followed.plan.items}
        done = -1 if run.step is None else run.step
        if run.finished is None and done >= max(places, default=-1):
            raise no_such_step(None, len(places), in_run=True)
        while True:
            place = await self.runs.advance(run.person, run.id, None, followed.total)
            if place in places:
                return places[place]

    async def workflow(
        self, workflow_id: str, include_content: bool, who: Viewer, since: int | None = None
    ) -> WorkflowDetails:
        """Everything in a workflow that someone may see."""
        workflow = await self.playbook.workflow(workflow_id, who)
        seen = {}
        if workflow.origin is not None:
            seen = await self.playbook.summaries(TargetType.WORKFLOW, [workflow.origin], who)
        standings = await self.ratings.standings([workflow.id])
        return WorkflowDetails(
            **WorkflowHead.fields_of(workflow, who),
            copied_from=OriginInfo.of(workflow, seen, who),
            standing=StandingInfo.of(standings.get(workflow.id)),
            my_rating=None if who is None else await self.ratings.of(who, workflow.id),
            stages=[stage_details(stage, who, include_content) for stage in workflow.stages],
            extra=dict(workflow.extra) or None,
            changes=await self._changes(workflow, since, who),
        )

    async def _changes(
        self, workflow: Workflow, since: int | None, who: Viewer
    ) -> ChangesInfo | None:
        """What is new in somebody's own workflow since a version, as far as that is kept."""
        if since is None or who is None or workflow.owner != who or since >= workflow.version:
            return None
        try:
            before = await self.history.content(TargetType.WORKFLOW, workflow.id, since, who)
        except ToolFailed:
            return None
        diff = difference(before, workflow_content(workflow))
        return ChangesInfo(since=since, diff=diff) if diff else None

    async def skill(self, skill_id: str, who: Viewer) -> SkillCard:
        """A whole card."""
        return SkillCard.of(await self.playbook.skill(skill_id, who), who)

    async def attachment(self, skill_id: str, name: str, who: Viewer) -> AttachmentContent:
        """A file of a card."""
        found, data = await self.playbook.attachment(skill_id, name, who)
        return AttachmentContent(
            **shared_fields(AttachmentInfo, found),
            skill_id=skill_id,
            content=b64encode(data).decode(),
        )


def _one_of(step_index: int | None, current_step: int | None) -> int | None:
    if None not in (step_index, current_step) and step_index != current_step:
        raise errors.bad_input(
            f"step_index is {step_index} and current_step is {current_step}. Give one of them: "
            "they are two names of the same."
        )
    return current_step if step_index is None else step_index


def _step_at(plan: Plan, index: int, *, in_run: bool = False) -> PlanItem:
    if index < len(plan.items):
        return plan.items[index]
    raise no_such_step(index, len(plan.items), in_run=in_run)


def step_answer(plan: Plan, item: PlanItem, run: Run | None = None, current: int = 0) -> NextStep:
    """A step with its content.

    Args:
        plan: the steps that its reader may see.
        item: which of them.
        run: the run that it is of, if any.
        current: the version that the run's workflow has by now.
    """
    total = len(plan.items)
    has_next = item.index + 1 < total
    note = None
    if run is not None and current != run.version:
        note = (
            f"The workflow is at version {current} by now. This run follows version {run.version}, "
            "without the steps that were taken out or taken back since."
        )
    return NextStep(
        **StepInfo.fields_of(item),
        content=item.content,
        workflow_id=plan.workflow_id,
        workflow_name=plan.workflow_name,
        version=plan.version,
        total_steps=total,
        has_next=has_next,
        next_index=item.index + 1 if has_next else None,
        run_id=run and run.id,
        note=note,
    )


def stage_details(stage: Stage, who: Viewer, include_content: bool) -> StageDetails:
    """A stage as someone sees it; nothing in it tells of an item that they do not see."""
    ids = {each.item.id for each in stage.items}
    order = stage.item_order
    return StageDetails(
        **shared_fields(StageInfo, stage),
        items=[StageItemInfo.of(each, who, include_content) for each in stage.items],
        item_order=None
        if order is None
        else [each for each in order if each in ids or AutoPrompt.named(each)],
        extra=dict(stage.extra) or None,
    )
