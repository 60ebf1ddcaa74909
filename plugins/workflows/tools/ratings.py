"""The tool that rates a workflow."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tool
from plugins.workflows.store.ratings import Ratings
from plugins.workflows.tools.base import SETS, Wire, personal_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.execution import WorkflowId
from plugins.workflows.tools.results.ratings import Rated, StandingInfo

MOST_STARS = 5
Stars = Annotated[
    int | None,
    Field(ge=1, le=MOST_STARS, description="1, of no use, to 5; null takes your rating back."),
]


def tool(ratings: Ratings) -> Tool:
    """The tool; it makes no sense for someone who has not signed in."""

    async def rate_workflow(
        workflow_id: WorkflowId, stars: Stars = None, *, caller: Caller
    ) -> Wire:
        """Say how good a workflow of somebody else's is, in place of what you said before. Of what
        fits a task about equally, searches show first what people rate higher and finish more
        often. Ask the person whose rating it is."""
        workflow = await ratings.rate(signed_in(caller), workflow_id, stars)
        standing = (await ratings.standings([workflow])).get(workflow)
        told = StandingInfo.of(standing)
        return Rated(workflow_id=workflow, my_rating=stars, standing=told).wire()

    return personal_tool(rate_workflow, "Rate a workflow", Rated, SETS)
