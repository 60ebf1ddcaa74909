"""What the tools that write workflows take."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from plugins.workflows import checks, limits
from plugins.workflows.drafts import (
    PromptDraft,
    Reference,
    StageDraft,
    StageItemDraft,
    WorkflowDraft,
)
from plugins.workflows.inputs.base import (
    Input,
    IsActive,
    NewItem,
    ToPublish,
    Version,
    changed,
    or_none,
)
from plugins.workflows.inputs.fields import (
    ANY_CASE,
    AnyCaseComplexity,
    AnyCaseVisibility,
    Content,
    Description,
    Name,
    Tags,
)
from plugins.workflows.model import TargetType, Visibility

Colour = Annotated[Name, StringConstraints(max_length=checks.COLOR)]


class PromptInput(Input):
    """A mini-prompt of a stage: one that is there, by prompt_id, or a new one."""

    prompt_id: Name | None = Field(
        None,
        description="The id of a mini-prompt that is there. Alone, it is used as it is; with name "
        "and content, it gets these words (only your own).",
    )
    name: Name | None = Field(None, description="What the step is called. For a new mini-prompt.")
    content: Content | None = Field(
        None, description="What the agent is told to do, in Markdown. For a new mini-prompt."
    )
    description: Description | None = Field(None, description="What it is for, in a sentence.")

    @model_validator(mode="after")
    def _is_there_or_new(self) -> Self:
        given = [each is not None for each in (self.name, self.content)]
        if all(given) or (self.prompt_id and not any(given) and self.description is None):
            return self
        raise ValueError("give name and content, or prompt_id alone")

    def draft(self) -> PromptDraft | Reference:
        """What is to be written."""
        if self.name is None or self.content is None:
            return Reference(TargetType.MINI_PROMPT, self.prompt_id or "")
        return PromptDraft(
            name=self.name,
            content=self.content,
            description=self.description or None,
            id=self.prompt_id,
        )


class StageInput(Input):
    """A stage of a workflow: its items, and how they are walked."""

    name: Name = Field(description="What the stage is called, such as Review.")
    description: Description | None = Field(None, description="What it achieves, in a sentence.")
    color: Colour | None = Field(None, description="A colour for people, such as #3b82f6.")
    with_review: bool = Field(
        False, description="Whether the Memory Board, the portal's review step, ends the stage."
    )
    include_multi_agent_chat: bool | None = Field(
        None,
        description="Whether the Internal Agents Chat, the portal's discussion step, comes after "
        "each item; null: as the workflow says.",
    )
    prompts: list[PromptInput] = Field(
        default_factory=list,
        max_length=limits.STAGE_ITEMS,
        description="The mini-prompts, in order; they come before the skills.",
    )
    skills: list[Name] = Field(
        default_factory=list,
        max_length=limits.STAGE_ITEMS,
        description="Ids or keys (not names) of skill cards that are there, in order.",
    )
    item_order: list[Name] | None = Field(
        None,
        max_length=checks.ORDER,
        description="Another order of the steps: ids of items, or names of mini-prompts that are "
        "written with it, and memory-board or multi-agent-chat where those should come. What is "
        "not listed comes at the end; a name that is none of these is left out, with a warning.",
    )
    stage_id: Name | None = Field(
        None, description="The id of the stage, where an edit keeps one that is there."
    )

    def draft(self) -> StageDraft:
        """What is to be written."""
        drafts = [
            *(prompt.draft() for prompt in self.prompts),
            *(Reference(TargetType.SKILL, each) for each in self.skills),
        ]
        return StageDraft(
            name=self.name,
            description=self.description or None,
            color=self.color,
            with_review=self.with_review,
            include_multi_agent_chat=self.include_multi_agent_chat,
            items=tuple(StageItemDraft(what) for what in drafts),
            item_order=None if self.item_order is None else tuple(self.item_order),
            id=self.stage_id,
        )


Stages = Annotated[list[StageInput], Field(max_length=limits.STAGES)]


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


class EditWorkflow(Input):
    """What to change in a workflow; null leaves a field as it is."""

    workflow_id: Name = Field(description="The id or key of your workflow.")
    version: Version
    name: Name | None = Field(None, description="Its new name.")
    description: Description | None = Field(None, description='Its new description; "" for none.')
    complexity: AnyCaseComplexity | None = Field(None, description="How large the work is.")
    visibility: AnyCaseVisibility | None = Field(None, description=ToPublish)
    tags: Tags | None = Field(None, description="All its tags from now on; [] for none.")
    include_multi_agent_chat: bool | None = Field(
        None, description="Whether stages have the Internal Agents Chat after each item."
    )
    stages: Stages | None = Field(
        None,
        description="All its stages from now on: they replace those that are there. What stays "
        "is named by the ids that get_workflow shows: a stage as stage_id, its mini-prompts as "
        "prompts with a prompt_id, its skill cards in skills.",
    )
    is_active: IsActive = None

    def changes(self) -> dict[str, Any]:
        """The fields of ``WorkflowDraft`` that were given, and their values."""
        return changed(
            self,
            {"description": or_none, "tags": tuple, "stages": _drafts},
            ("name", "complexity", "visibility", "include_multi_agent_chat"),
        )


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


def _drafts(stages: list[StageInput]) -> tuple[StageDraft, ...]:
    return tuple(stage.draft() for stage in stages)
