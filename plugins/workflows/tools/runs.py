"""The tools for runs: where the caller is in workflows, and the end of a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from gateway.contract import Caller, Tool, ToolFailed
from plugins.workflows import errors, limits
from plugins.workflows.model import Outcome, Run
from plugins.workflows.plans.plans import Plans
from plugins.workflows.store.runs import Runs, State
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import MAX_PAGE_SIZE, READS, SETS, Wire, clamp, personal_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.results.runs import RunInfo, RunList


def tools(plans: Plans, runs: Runs) -> list[Tool]:
    """The tools; both make no sense for someone who has not signed in."""
    return [_list_tool(plans, runs), _finish_tool(plans, runs)]


def _list_tool(plans: Plans, runs: Runs) -> Tool:
    async def list_runs(
        workflow_id: Annotated[
            Name | None, Field(description="Only runs of this workflow, by its id or key.")
        ] = None,
        state: Annotated[
            State, Field(description="open: those that go on; finished; or all.")
        ] = "open",
        limit: int = 20,
        *,
        caller: Caller,
    ) -> Wire:
        """List your runs of workflows, the one that moved last first, to see where you are. Go on
        with one by `get_next_step` and its `runId`; end it with `finish_run`.

        Args:
            limit: How many runs at most, from 1 to 100.
        """
        person, most = signed_in(caller), clamp(limit, MAX_PAGE_SIZE)
        if workflow_id is not None:
            workflow_id = await _id(plans, runs, workflow_id, person)
        found = await runs.listed(person, workflow_id, state, most + 1)
        told = [await run_info(plans, run) for run in found[:most]]
        return RunList(runs=told, has_more=len(found) > most).wire()

    return personal_tool(list_runs, "List your runs", RunList, READS)


def _finish_tool(plans: Plans, runs: Runs) -> Tool:
    async def finish_run(
        run_id: Annotated[Name, Field(description="The run's id, as list_runs has it.")],
        outcome: Annotated[
            Outcome, Field(description="done, or abandoned where you stopped before the end.")
        ] = Outcome.DONE,
        note: Annotated[
            Annotated[str, StringConstraints(max_length=limits.MAX_DESCRIPTION_CHARS)] | None,
            Field(description="What to remember of it, in a few sentences."),
        ] = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Finish a run of yours, whichever step it is at. It stays in `list_runs` with its outcome
        for some time. To finish it again with the same outcome changes nothing."""
        run = await runs.finish(signed_in(caller), run_id, outcome, note)
        return (await run_info(plans, run)).wire()

    return personal_tool(finish_run, "Finish a run", RunInfo, SETS)


async def _id(plans: Plans, runs: Runs, ref: str, person: str) -> str:
    """The id of a workflow to list runs of; one that they may not see any more has its runs too."""
    if await runs.listed(person, ref, "all", 1):
        return ref
    return (await plans.of_workflow(ref, person)).workflow.id


async def run_info(plans: Plans, run: Run) -> RunInfo:
    """What its person is told of a run.

    Where its workflow was deleted, or its owner took it back, the run is still theirs, and tells
    nothing of it but that.
    """
    try:
        known = await plans.of_run_workflow(run)
        return RunInfo.of(run, (await plans.of_run(run, known)).plan)
    except errors.Damaged:  # whose reason is the admin's
        return RunInfo.of(run, None)
    except ToolFailed as hidden:
        return RunInfo.of(run, None, hidden.message)
