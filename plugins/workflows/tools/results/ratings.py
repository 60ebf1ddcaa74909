"""What answers say of how a workflow stands."""

from __future__ import annotations

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.store.ratings import Standing
from plugins.workflows.tools.results.base import shared_fields


class StandingInfo(ToolResult):
    """How a workflow stands with everyone but its owner."""

    average: float | None = Field(description="The mean of the ratings, 1 to 5.")
    ratings: int = Field(description="How many people have rated it.")
    started: int = Field(description="How many people have a run of it, of the runs that are kept.")
    finished: int = Field(description="How many of those have one that is done.")

    @classmethod
    def of(cls, standing: Standing | None) -> StandingInfo | None:
        """What answers show of a standing; None where nobody has rated or walked it."""
        return None if standing is None else cls(**shared_fields(cls, standing))


class Rated(ToolResult):
    """What somebody thinks of a workflow by now."""

    workflow_id: str
    my_rating: int | None = Field(description="null: it is taken back.")
    standing: StandingInfo | None = Field(description="null where nobody has rated or walked it.")
