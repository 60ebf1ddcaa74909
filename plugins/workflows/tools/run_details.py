"""The tool that shows a run as it is, and moves nothing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tool
from plugins.workflows.plans.plans import Plans
from plugins.workflows.store.runs import Runs, no_such_step
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import READS, Wire, personal_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.execution import StepIndex, step_answer
from plugins.workflows.tools.results.execution import StepInfo
from plugins.workflows.tools.results.run_details import RunDetails
from plugins.workflows.tools.results.runs import RunInfo


def tool(plans: Plans, runs: Runs) -> Tool:
    """The tool; it makes no sense for someone who has not signed in."""

    async def get_run(
        run_id: Annotated[Name, Field(description="The run's id, as list_runs has it.")],
        step_index: StepIndex = None,
        *,
        caller: Caller,
    ) -> Wire:
        """See a run of yours with its steps, and the content of the one that it is at, or of
        another. It moves nothing: `get_next_step` goes on."""
        person = signed_in(caller)
        run = await runs.get(person, run_id)
        known = await plans.of_run_workflow(run)
        followed = await plans.of_run(run, known)
        plan, info = followed.plan, RunInfo.of(run, followed.plan)
        wanted = info.step if step_index is None else step_index
        if wanted is not None and wanted >= len(plan.items):
            raise no_such_step(wanted, len(plan.items), in_run=True)
        shown = None
        if wanted is not None:
            shown = step_answer(plan, plan.items[wanted], run, known.workflow.version)
        steps = [StepInfo(**StepInfo.fields_of(each)) for each in plan.items]
        return RunDetails(**info.model_dump(), steps=steps, shown=shown).wire()

    return personal_tool(get_run, "See a run", RunDetails, READS)
