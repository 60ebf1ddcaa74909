"""What the writing tools answer with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Skill, Stage, TargetType, Visibility, Workflow
from plugins.workflows.plans.plan import can_see
from plugins.workflows.tools.results.base import shared_fields

Done = Literal["added", "updated", "unchanged", "deleted", "restored"]


class FolderRef(ToolResult):
    """The folder that something was put into."""

    id: str
    key: str
    name: str
    created: bool = Field(description="Whether the folder was made for it.")


class ItemRef(ToolResult):
    """A mini-prompt or skill card of a stage, as later calls name it."""

    type: TargetType
    id: str
    name: str


class StageRef(ToolResult):
    """A stage, and what is in it."""

    id: str = Field(description="The stage_id for an edit.")
    name: str
    items: list[ItemRef]

    @classmethod
    def of(cls, stage: Stage, writer: str) -> StageRef:
        """What an answer shows of a stage, to whoever wrote it.

        What others took back since they wrote it into a workflow is not shown any more.
        """
        return cls(
            id=stage.id,
            name=stage.name,
            items=[
                ItemRef(**shared_fields(ItemRef, each.item))
                for each in stage.items
                if can_see(writer, each.item)
            ],
        )


class Written(ToolResult):
    """What was written, and what an edit of it has to name."""

    done: Done = Field(description="unchanged: everything was so already, nothing was written.")
    type: TargetType
    id: str
    key: str = Field(description="Its short name, for your own later calls.")
    name: str
    version: int = Field(description="What the next edit names.")
    visibility: Visibility
    folder: FolderRef | None = Field(None, description="Where it was put, if a folder was given.")
    stages: list[StageRef] = Field(
        default_factory=list, description="A workflow's stages, with the ids of what is in them."
    )
    warnings: list[str] = Field(
        default_factory=list, description="What was taken and may not be what you meant."
    )

    restorable_until: datetime | None = Field(
        None, description="Of a deleted workflow: it is in your bin until then, at least."
    )

    @classmethod
    def of(
        cls,
        item: Workflow | Skill,
        done: Done,
        *,
        folder: FolderRef | None = None,
        warnings: Sequence[str] = (),
        restorable_until: datetime | None = None,
    ) -> Written:
        """The answer to a tool that wrote something.

        Args:
            item: as it is now.
            done: what became of it.
            folder: where it was put.
            warnings: what its writer should look at.
            restorable_until: how long a deleted one is kept.
        """
        stages = item.stages if isinstance(item, Workflow) else ()
        return cls(
            **shared_fields(cls, item)
            | {
                "done": done,
                "folder": folder,
                "stages": [StageRef.of(each, item.owner) for each in stages],
                "warnings": list(warnings),
                "restorable_until": restorable_until,
            }
        )
