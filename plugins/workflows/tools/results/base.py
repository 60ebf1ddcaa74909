"""What several answers show of an item."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Complexity, Item, Summary, TargetType, Viewer, Visibility


def shared_fields(result: type[ToolResult], source: object) -> dict[str, Any]:
    """The fields of a result that its source has under the same names."""
    return {name: getattr(source, name) for name in result.model_fields if hasattr(source, name)}


class ItemInfo(ToolResult):
    """What every answer tells of a workflow, a skill card or a mini-prompt."""

    id: str
    key: str = Field(description="A short name, unique among its owner's.")
    name: str
    description: str | None
    visibility: Visibility
    author: str | None = Field(description="Who published it; null for a private one.")
    mine: bool = Field(description="Whether it is the caller's own.")
    version: int = Field(description="What an edit names, so that it overwrites nothing newer.")
    updated_at: datetime

    @classmethod
    def fields_of(cls, item: Item, viewer: Viewer) -> dict[str, Any]:
        """The fields of this class that an item has, as they are shown to a viewer."""
        return shared_fields(cls, item) | {
            "author": item.author if item.visibility is Visibility.PUBLIC else None,
            "mine": viewer is not None and item.owner == viewer,
            "updated_at": item.updated,
        }


class SummaryInfo(ItemInfo):
    """A workflow or a skill card in a list."""

    type: TargetType
    tags: list[str]
    complexity: Complexity | None = Field(description="XS to XL; null where nobody said.")

    @classmethod
    def of(cls, summary: Summary, viewer: Viewer) -> SummaryInfo:
        """What a list shows of an item, for a viewer."""
        return cls(**cls.fields_of(summary, viewer))
