"""What a new workflow would be, and what an edit would make of one."""

from __future__ import annotations

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Complexity, Visibility, Workflow
from plugins.workflows.tools.results.base import shared_fields
from plugins.workflows.tools.results.execution import StageDetails


class EditPreview(ToolResult):
    """A workflow as an edit would leave it; it is not written."""

    id: str
    version: int = Field(description="The version that it has, which the edit names.")
    name: str = Field(description="What it would be called.")
    changed: bool = Field(description="Whether the edit would change anything.")
    visibility: Visibility = Field(description="Who would see it.")
    diff: str = Field(description="What would change in its words, line by line.")
    stages: list[StageDetails] = Field(
        description="The stages that it would have; what is new gets other ids when it is written."
    )


class NewPreview(ToolResult):
    """A workflow as it would be written; it is not."""

    name: str
    description: str | None
    complexity: Complexity | None
    tags: list[str]
    visibility: Visibility = Field(description="Who would see it.")
    stages: list[StageDetails] = Field(
        description="Its stages; they get other ids when it is written."
    )
    warnings: list[str] = Field(description="What would be taken and may not be what you meant.")

    @classmethod
    def of(cls, made: Workflow, stages: list[StageDetails], warnings: list[str]) -> NewPreview:
        """What a preview shows of a workflow.

        Args:
            made: as it would be.
            stages: what is shown of its stages.
            warnings: what its writer should look at.
        """
        return cls(**shared_fields(cls, made) | {"stages": stages, "warnings": warnings})
