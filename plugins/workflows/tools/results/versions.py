"""What the tools for older versions answer with."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Revision
from plugins.workflows.tools.results.base import shared_fields


class VersionInfo(ToolResult):
    """One version of an item."""

    version: int
    at: datetime
    by: str | None = Field(description="Who wrote it, or null.")
    fields: list[str] = Field(description="What was new in it.")

    @classmethod
    def of(cls, revision: Revision) -> VersionInfo:
        """What an answer shows of a version."""
        return cls(**shared_fields(cls, revision))


class Versions(ToolResult):
    """The versions of an item, or one of them."""

    type: Literal["WORKFLOW", "SKILL"]
    id: str
    versions: list[VersionInfo] = Field(description="Those that are kept, the newest first.")
    content: dict[str, Any] | None = Field(
        None, description="What the item said in the version that was asked for."
    )
    diff: str | None = Field(
        None, description="From the version that was asked for to the one to compare it with."
    )
