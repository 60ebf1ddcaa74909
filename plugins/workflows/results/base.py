"""What several answers show of an item."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Complexity, Item, Summary, TargetType, Viewer, Visibility


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

    @staticmethod
    def said(item: Item, viewer: Viewer) -> dict[str, Any]:
        """The fields of this class, of an item, for a viewer."""
        return {
            "id": item.id,
            "key": item.key,
            "name": item.name,
            "description": item.description,
            "visibility": item.visibility,
            "author": item.author if item.visibility is Visibility.PUBLIC else None,
            "mine": viewer is not None and item.owner == viewer,
            "version": item.version,
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
        return cls(
            **ItemInfo.said(summary, viewer),
            type=summary.type,
            tags=list(summary.tags),
            complexity=summary.complexity,
        )
