"""What a run looks like with its steps, for who goes through it by themselves."""

from __future__ import annotations

from pydantic import Field

from plugins.workflows.tools.results.execution import NextStep, StepInfo
from plugins.workflows.tools.results.runs import RunInfo


class RunDetails(RunInfo):
    """A run, its steps, and the content of one of them."""

    steps: list[StepInfo] = Field(description="The steps that the caller may see, in order.")
    shown: NextStep | None = Field(
        description="The step that was asked for, or else the last that was handed out; null "
        "before the first."
    )
