"""What the tools for links to workflows answer with."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from gateway.contract import Tier, ToolResult
from plugins.workflows.model import Complexity
from plugins.workflows.shared import Opened
from plugins.workflows.store.links import Link
from plugins.workflows.tools.execution import stage_details
from plugins.workflows.tools.results.base import shared_fields
from plugins.workflows.tools.results.execution import StageDetails

LINK_PAGE = "/workflows/shared"
"""The page that a link leads to, below the portal's address."""


class LinkInfo(ToolResult):
    """A link of the caller's; what opens it is kept nowhere."""

    id: str = Field(description="For end_workflow_link; it opens nothing.")
    workflow_id: str
    workflow_name: str
    tier: Tier = Field(description="The link shows what this tier sees, and never more.")
    made_at: datetime
    expires_at: datetime
    ended_at: datetime | None = Field(description="When it ended; null while it is open.")

    @classmethod
    def of(cls, link: Link, now: datetime) -> LinkInfo:
        """What its maker is told of a link."""
        return cls(**cls.fields_of(link, now))

    @staticmethod
    def fields_of(link: Link, now: datetime) -> dict[str, object]:
        """The fields of this class, of a link."""
        return shared_fields(LinkInfo, link) | {
            "workflow_id": link.workflow,
            "made_at": link.made,
            "expires_at": link.expires,
            "ended_at": link.end(now),
        }


class NewLink(LinkInfo):
    """A link that was made, with what opens it."""

    address: str = Field(description="The link itself. It is told this once.")
    note: str = Field(description="What to tell the person.")

    @classmethod
    def made(cls, link: Link, secret: str, base: str) -> NewLink:
        """What its maker is told of a new link.

        Args:
            link: the link.
            secret: what opens it.
            base: the portal's address, as the maker's client sees it.
        """
        address = f"{base}{LINK_PAGE}?link={secret}"
        note = f"Copy the link now, it is shown this once: {address}"
        return cls(**cls.fields_of(link, link.made), address=address, note=note)


class LinkList(ToolResult):
    """Somebody's links to workflows."""

    workflow_id: str | None = Field(description="The workflow that was asked for, if one was.")
    workflow_name: str | None = Field(description="What it is called.")
    tiers: list[Tier] = Field(description="The tiers that a new link may be made for.")
    links: list[LinkInfo] = Field(description="The latest first; ended ones for 90 days.")
    has_more: bool = Field(description="Whether there are more than `limit`.")


class SharedWorkflow(ToolResult):
    """A workflow that a link shows; it can be read, and nothing else."""

    name: str
    description: str | None
    complexity: Complexity | None
    tags: list[str]
    stages: list[StageDetails]
    shared_by: str | None = Field(description="Who made the link, as far as the portal knows.")
    updated_at: datetime
    expires_at: datetime = Field(description="When the link ends.")

    @classmethod
    def of(cls, opened: Opened) -> SharedWorkflow:
        """What whoever has a link is shown."""
        workflow = opened.workflow
        return cls(
            **shared_fields(cls, workflow)
            | {
                "stages": [
                    stage_details(each, None, include_content=True) for each in workflow.stages
                ],
                "shared_by": opened.maker,
                "updated_at": workflow.updated,
                "expires_at": opened.link.expires,
            }
        )
