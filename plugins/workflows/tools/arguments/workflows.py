"""What the tools that write workflows take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field

from plugins.workflows import limits
from plugins.workflows.inputs import WorkflowDraft
from plugins.workflows.model import Visibility, Workflow
from plugins.workflows.tools.arguments.base import (
    VISIBILITY_DESCRIPTION,
    Input,
    IsActive,
    NewItem,
    RoundTripInput,
    Version,
    given_fields,
    none_if_empty,
)
from plugins.workflows.tools.arguments.fields import (
    ANY_CASE,
    AnyCaseComplexity,
    AnyCaseVisibility,
    Description,
    Name,
    Tags,
)
from plugins.workflows.tools.arguments.stages import Extra, Stages, match_stages


class AddWorkflow(NewItem):
    """A new workflow."""

    complexity: AnyCaseComplexity | None = Field(
        None, description="How large the work is: XS, a quick fix, to XL, a whole product."
    )
    include_multi_agent_chat: bool = Field(
        False, description="Whether stages have the Internal Agents Chat after each item."
    )
    stages: Stages = Field(description="The stages, in order.")

    def draft(self) -> WorkflowDraft:
        """What is to be written."""
        return WorkflowDraft(
            name=self.name,
            description=self.description or None,
            complexity=self.complexity,
            include_multi_agent_chat=self.include_multi_agent_chat,
            visibility=self.visibility,
            tags=tuple(self.tags),
            stages=tuple(stage.draft() for stage in self.stages),
        )


class EditWorkflow(RoundTripInput):
    """What to change in a workflow; null leaves a field as it is."""

    workflow_id: Name = Field(
        validation_alias=AliasChoices("workflow_id", "workflowId", "id"),
        description="The id or key of your workflow.",
    )
    version: Version
    name: Name | None = Field(None, description="Its new name.")
    description: Description | None = Field(None, description='Its new description; "" for none.')
    complexity: AnyCaseComplexity | None = Field(None, description="How large the work is.")
    visibility: AnyCaseVisibility | None = Field(None, description=VISIBILITY_DESCRIPTION)
    tags: Tags | None = Field(None, description="All its tags from now on; [] for none.")
    include_multi_agent_chat: bool | None = Field(
        None, description="Whether stages have the Internal Agents Chat after each item."
    )
    stages: Stages | None = Field(
        None,
        description="The stages to change, and new ones, as get_workflow shows them. A stage that "
        "is there is named by its id (stage_id), or by its name; its items, where they are given, "
        "take the place of those that it has. Stages that are left out stay.",
    )
    remove_stages: list[Name] = Field(
        default_factory=list,
        max_length=limits.MAX_STAGES,
        description="The ids of the stages to remove.",
    )
    extra: Extra = None
    is_active: IsActive = None

    def changes(self, before: Workflow) -> dict[str, Any]:
        """The fields of ``WorkflowDraft`` that were given, and their values.

        Args:
            before: the workflow as it was read.
        """
        found = given_fields(
            self,
            {"description": none_if_empty, "tags": tuple},
            ("name", "complexity", "visibility", "include_multi_agent_chat", "extra"),
        )
        if self.stages is not None or self.remove_stages:
            given = self.stages or []
            pairs = zip(given, match_stages(given, before.stages), strict=True)
            found["stages"] = tuple(stage.draft(old) for stage, old in pairs)
        return found


class Publish(Input):
    """Something to publish, or to take back."""

    type: Annotated[Literal["WORKFLOW", "SKILL"], ANY_CASE] = Field(
        description="What it is: a workflow, or a skill card."
    )
    id: Name = Field(description="The id or key of your workflow or skill card.")
    version: Version
    visibility: AnyCaseVisibility = Field(
        Visibility.PUBLIC, description="PUBLIC, or PRIVATE to take it back."
    )
