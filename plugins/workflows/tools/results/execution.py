"""What selecting a workflow, walking it and reading its parts answer with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import (
    Attachment,
    AutoPrompt,
    Complexity,
    Skill,
    StageItem,
    Summary,
    TargetType,
    Viewer,
    Workflow,
)
from plugins.workflows.plans.plan import Plan, PlanItem, StepType
from plugins.workflows.tools.results.base import ItemInfo, shared_fields
from plugins.workflows.tools.results.ratings import StandingInfo
from plugins.workflows.tools.results.runs import RunInfo


class AttachmentInfo(ToolResult):
    """A file of a skill card; `get_attachment` gives it."""

    name: str
    mime_type: str
    size: int = Field(description="In bytes.")
    digest: str = Field(description="The SHA-256 of its bytes, in hexadecimal.")

    @classmethod
    def each(cls, attachments: Sequence[Attachment]) -> list[AttachmentInfo]:
        """What answers show of a card's files."""
        return [cls(**shared_fields(cls, each)) for each in attachments]


class StepInfo(ToolResult):
    """A step of a plan, without its content (seed 004, `ExecutionPlanItem`)."""

    index: int = Field(description="Its number, from 0.")
    type: StepType
    stage_index: int = Field(description="The number of its stage, from 0.")
    stage_name: str
    id: str = Field(description="Of its mini-prompt or skill card.")
    name: str
    description: str | None
    auto_prompt_type: AutoPrompt | None = Field(
        description="For a step that the stage's settings brought."
    )
    attachments: list[AttachmentInfo] | None = Field(
        description="The card's files: get_attachment takes this step's id and a file's name; "
        "null where there are none."
    )
    extra: dict[str, Any] | None = Field(
        description="What else its author said of this step, or null."
    )

    @staticmethod
    def fields_of(item: PlanItem) -> dict[str, Any]:
        """The fields of this class, of a step."""
        return shared_fields(StepInfo, item) | {
            "auto_prompt_type": item.auto_prompt,
            "attachments": AttachmentInfo.each(item.attachments) or None,
            "extra": dict(item.extra) or None,
        }


class ExecutionPlan(ToolResult):
    """A workflow's steps in order (seed 004, `ExecutionPlan`)."""

    workflow_id: str
    workflow_name: str
    include_multi_agent_chat: bool = Field(
        description="Whether the workflow or a stage of it asks for the Internal Agents Chat."
    )
    total_steps: int
    items: list[StepInfo] = Field(description="Without content, which get_next_step brings.")

    @classmethod
    def of(cls, plan: Plan) -> ExecutionPlan:
        """What answers show of a plan."""
        steps = [StepInfo(**StepInfo.fields_of(item)) for item in plan.items]
        return cls(**shared_fields(cls, plan) | {"total_steps": len(steps), "items": steps})


class StageInfo(ToolResult):
    """A stage in short."""

    id: str
    name: str
    description: str | None
    color: str | None
    with_review: bool = Field(description="Whether the Memory Board comes at its end.")
    include_multi_agent_chat: bool | None = Field(
        description="Whether the Internal Agents Chat comes after each item; null where the "
        "workflow's own setting counts."
    )


class WorkflowHead(ItemInfo):
    """What a workflow is, without its stages."""

    complexity: Complexity | None = Field(description="XS to XL; null where nobody said.")
    include_multi_agent_chat: bool = Field(
        description="Whether the Internal Agents Chat comes after each item of those stages that "
        "do not say."
    )
    tags: list[str]


class SelectedWorkflow(WorkflowHead):
    """A workflow that is to be followed, and its plan."""

    stages: list[StageInfo]
    execution_plan: ExecutionPlan
    run: RunInfo | None = Field(description="The run that was started, if one was.")
    open_runs: list[RunInfo] = Field(
        description="The caller's unfinished runs of this workflow, the latest first: "
        "get_next_step goes on with one by its id."
    )
    note: str | None = Field(None, description="What to know about this answer.")


class NextStep(StepInfo):
    """One step with its content."""

    content: str = Field(description="What to do now.")
    workflow_id: str
    workflow_name: str
    version: int = Field(description="The version of the workflow that this step is of.")
    total_steps: int
    has_next: bool
    next_index: int | None = Field(description="The step after this one; null at the end.")
    run_id: str | None = Field(description="The run that this step was recorded in.")
    note: str | None = Field(None, description="What to know about this step.")


class StageItemInfo(ItemInfo):
    """A mini-prompt or skill card at its place in a stage."""

    type: TargetType
    content: str | None = Field(description="null unless include_content asked for it.")
    attachments: list[AttachmentInfo] | None = Field(
        description="A card's files; null where there are none."
    )
    extra: dict[str, Any] | None = Field(
        description="What else its author said of this step, or null."
    )

    @classmethod
    def of(cls, placed: StageItem, viewer: Viewer, include_content: bool) -> StageItemInfo:
        """What an answer shows of an item in a stage, for a viewer."""
        item = placed.item
        files = item.attachments if isinstance(item, Skill) else ()
        return cls(
            **ItemInfo.fields_of(item, viewer),
            type=item.type,
            content=item.content if include_content else None,
            attachments=AttachmentInfo.each(files) or None,
            extra=dict(placed.extra) or None,
        )


class StageDetails(StageInfo):
    """A stage with everything in it."""

    items: list[StageItemInfo] = Field(description="In the order of their positions.")
    item_order: list[str] | None = Field(
        description="The ids in the order that was arranged, memory-board and multi-agent-chat "
        "among them; null where the order of items counts."
    )
    extra: dict[str, Any] | None = Field(
        description="What else its author said of this stage, or null."
    )


class OriginInfo(ToolResult):
    """The workflow that another one was copied from."""

    id: str
    version: int
    name: str | None = Field(description="null where it is not shown to the caller, or is gone.")

    @classmethod
    def of(cls, copy: Workflow, seen: Mapping[str, Summary], viewer: Viewer) -> OriginInfo | None:
        """What a viewer is told of it: its copier where it was from, others what they see.

        Args:
            copy: the copy.
            seen: the origin, by its id, where the viewer sees it.
            viewer: who looks.
        """
        if copy.origin is None or copy.origin_version is None:
            return None
        found = seen.get(copy.origin)
        if found is None and (viewer is None or copy.owner != viewer):
            return None
        return cls(id=copy.origin, version=copy.origin_version, name=found and found.name)


class ChangesInfo(ToolResult):
    """What is new in a workflow since one of its versions."""

    since: int = Field(description="The version; restore_version brings it back.")
    diff: str = Field(description="What changed in its words, line by line.")


class WorkflowDetails(WorkflowHead):
    """A workflow with everything in it, as an edit needs it."""

    stages: list[StageDetails]
    copied_from: OriginInfo | None = Field(
        None, description="The workflow that this one is a copy of, if it is one."
    )
    standing: StandingInfo | None = Field(
        None, description="What others think of it; null where nobody has rated or walked it."
    )
    my_rating: int | None = Field(None, description="What you said with rate_workflow, or null.")
    changes: ChangesInfo | None = Field(
        None, description="What is new since the version that was asked for, for its owner alone."
    )
    extra: dict[str, Any] | None = Field(
        description="What else its author said of this workflow, or null."
    )


class SkillCard(ItemInfo):
    """A whole skill card."""

    content: str = Field(description="Its instructions, in markdown.")
    tags: list[str]
    attachments: list[AttachmentInfo] = Field(
        description="Its files: get_attachment takes this card's id and a file's name."
    )

    @classmethod
    def of(cls, skill: Skill, viewer: Viewer) -> SkillCard:
        """What an answer shows of a card, for a viewer."""
        files = AttachmentInfo.each(skill.attachments)
        return cls(**cls.fields_of(skill, viewer) | {"attachments": files})


class AttachmentContent(AttachmentInfo):
    """A file of a skill card, with its bytes."""

    skill_id: str = Field(description="The card, as it was named in the call.")
    content: str = Field(description="The file's bytes in Base64.")
    encoding: Literal["base64"] = "base64"
