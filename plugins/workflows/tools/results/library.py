"""What a change of the caller's library answers with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateway.contract import ToolResult


class LibraryChange(ToolResult):
    """Whether an item is in the caller's library now."""

    type: Literal["WORKFLOW", "SKILL"]
    id: str
    in_library: bool
    changed: bool = Field(description="false: it was so already.")
