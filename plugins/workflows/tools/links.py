"""The tools for links to workflows that end: made, listed, ended and opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Annotated

from pydantic import Field, StringConstraints

from gateway.contract import Caller, Exchange, Tier, Tool
from plugins.workflows import limits
from plugins.workflows.shared import SharedWorkflows
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import (
    ADDS,
    MAX_PAGE_SIZE,
    READS,
    SETS,
    Wire,
    clamp,
    open_tool,
    personal_tool,
)
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.execution import WorkflowId
from plugins.workflows.tools.results.links import LinkInfo, LinkList, NewLink, SharedWorkflow

Days = Annotated[
    int, Field(ge=1, le=limits.MAX_LINK_DAYS, description="After how many days it ends.")
]
Shown = Annotated[
    Tier,
    Field(
        description="Whose sight the link never goes beyond: open, what anybody sees; public or "
        "members, what such a caller sees, also for who has the link and no access of their own."
    ),
]
Secret = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000),
    Field(description="The link as it was given to you, or what stands in it after `link=`."),
]


def tools(shared: SharedWorkflows, exchange: Callable[[], Exchange]) -> list[Tool]:
    """The tools, the one that makes a link first.

    Args:
        shared: makes and opens links.
        exchange: gives the call that is running, which knows the portal's address.
    """
    return [
        _make_tool(shared, exchange),
        _list_tool(shared),
        _end_tool(shared),
        _open_tool(shared),
    ]


def _make_tool(shared: SharedWorkflows, exchange: Callable[[], Exchange]) -> Tool:
    async def create_workflow_link(
        workflow_id: WorkflowId, days: Days = 7, tier: Shown = Tier.OPEN, *, caller: Caller
    ) -> Wire:
        """Make a link to a workflow of your own: whoever has it reads the workflow as you see it,
        PRIVATE or not, and can change nothing, until the link ends. Ask the person first, and give
        them the `address`: it is told this once."""
        signed_in(caller)
        made, secret = await shared.make(caller, workflow_id, tier, timedelta(days=days))
        return NewLink.made(made, secret, exchange().base).wire()

    made = personal_tool(create_workflow_link, "Make a link to a workflow", NewLink, ADDS)
    return replace(made, tier=Tier.MEMBERS)  # as publish: it shows something to others


def _list_tool(shared: SharedWorkflows) -> Tool:
    async def list_workflow_links(
        workflow_id: Annotated[
            Name | None, Field(description="Only those to this workflow of yours, by id or key.")
        ] = None,
        limit: int = 20,
        *,
        caller: Caller,
    ) -> Wire:
        """List the links that you have made to workflows, open and ended, the latest first.
        `end_workflow_link` ends one.

        Args:
            limit: How many at most, from 1 to 100.
        """
        person, most = signed_in(caller), clamp(limit, MAX_PAGE_SIZE)
        of = None if workflow_id is None else await shared.playbook.workflow(workflow_id, person)
        found = await shared.links.listed(person, None if of is None else of.id, most + 1)
        now = shared.clock()
        return LinkList(
            workflow_id=of and of.id,
            workflow_name=of and of.name,
            tiers=[each for each in Tier if caller.tier.allows(each)],
            links=[LinkInfo.of(each, now) for each in found[:most]],
            has_more=len(found) > most,
        ).wire()

    return personal_tool(list_workflow_links, "List your links", LinkList, READS)


def _end_tool(shared: SharedWorkflows) -> Tool:
    async def end_workflow_link(
        id: Annotated[Name, Field(description="The link's id, as list_workflow_links has it.")],
        *,
        caller: Caller,
    ) -> Wire:
        """End a link of yours now: it shows the workflow to nobody any more."""
        ended = await shared.links.end(signed_in(caller), id)
        return LinkInfo.of(ended, shared.clock()).wire()

    return personal_tool(end_workflow_link, "End a link to a workflow", LinkInfo, SETS)


def _open_tool(shared: SharedWorkflows) -> Tool:
    async def open_workflow_link(link: Secret, *, caller: Caller) -> Wire:
        """Read the workflow that somebody has given you a link to: its stages and steps with their
        texts. The link is good until it ends; then the answer says whom to ask."""
        opened = await shared.open(link.rpartition("link=")[2])
        return SharedWorkflow.of(opened).wire()

    made = open_tool(open_workflow_link, "Open a link to a workflow", SharedWorkflow)
    return replace(made, opaque=("link",))  # it is a secret, and the one that is meant
