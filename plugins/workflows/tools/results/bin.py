"""What the tools for deleted workflows answer with."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.store.binned import BinnedWorkflow
from plugins.workflows.tools.results.base import shared_fields


class BinEntry(ToolResult):
    """A deleted workflow."""

    id: str = Field(description="For restore_workflow and erase_workflow.")
    key: str = Field(description="The key that it had.")
    name: str
    description: str | None
    deleted_at: datetime
    kept_until: datetime = Field(description="It is erased for good after this.")

    @classmethod
    def of(cls, found: BinnedWorkflow, keep: timedelta) -> BinEntry:
        """What its owner is told of it.

        Args:
            found: the workflow.
            keep: how long it is kept.
        """
        times = {"deleted_at": found.deleted, "kept_until": found.deleted + keep}
        return cls(**shared_fields(cls, found) | times)


class BinContents(ToolResult):
    """The workflows that somebody deleted."""

    workflows: list[BinEntry] = Field(description="The one deleted last first.")
    has_more: bool = Field(description="Whether there are more than `limit`.")


class Erased(ToolResult):
    """A workflow that is gone for good."""

    id: str
    name: str = Field(description="What it was called.")
