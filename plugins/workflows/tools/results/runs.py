"""What runs look like."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Outcome, Run
from plugins.workflows.plans.plan import Plan


class RunInfo(ToolResult):
    """One walk of the caller's through a workflow."""

    run_id: str = Field(description="For get_next_step and finish_run.")
    workflow_id: str
    workflow_name: str | None = Field(
        description="null where the workflow was deleted or is no longer shown to the caller."
    )
    version: int = Field(description="The workflow's version whose plan the run follows.")
    step: int | None = Field(
        description="The index of the last step that was handed out; null before the first."
    )
    total_steps: int | None = Field(description="null where the workflow is no longer shown.")
    next_step: int | None = Field(
        description="The index that get_next_step gives next; null where there is none."
    )
    started_at: datetime
    updated_at: datetime
    finished_at: datetime | None = Field(description="null while the run is open.")
    outcome: Outcome | None
    note: str | None = Field(description="What was said when the run was finished.")
    why_hidden: str | None = Field(
        None, description="Where the workflow is not shown: why, and what can be done."
    )

    @classmethod
    def of(cls, run: Run, plan: Plan | None, why_hidden: str | None = None) -> RunInfo:
        """What its person is told of a run.

        Args:
            run: it counts the steps of the whole plan.
            plan: those of them that its person may see, or None where they may not see the
                workflow any more.
            why_hidden: why they may not.
        """
        last = -1 if run.step is None else run.step
        passed = 0 if plan is None else sum(item.place <= last for item in plan.items)
        total = None if plan is None else len(plan.items)
        more = run.finished is None and total is not None and passed < total
        return cls(
            run_id=run.id,
            workflow_id=run.workflow,
            workflow_name=None if plan is None else plan.workflow_name,
            version=run.version,
            step=passed - 1 if passed else None,
            total_steps=total,
            next_step=passed if more else None,
            started_at=run.started,
            updated_at=run.updated,
            finished_at=run.finished,
            outcome=run.outcome,
            note=run.note,
            why_hidden=why_hidden,
        )


class RunList(ToolResult):
    """Runs of the caller's, the one that moved last first."""

    runs: list[RunInfo]
    has_more: bool = Field(description="Whether there are more than `limit`.")
