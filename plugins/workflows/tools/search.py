"""The tools that find workflows and skill cards for a task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tool
from plugins.workflows.model import Viewer
from plugins.workflows.search.search import Search
from plugins.workflows.store.queries import Filters, Scope
from plugins.workflows.tools.arguments.fields import AnyCaseComplexity, Tags
from plugins.workflows.tools.base import Wire, clamp, open_tool
from plugins.workflows.tools.callers import signed_in
from plugins.workflows.tools.results.search import AvailableSkills, AvailableWorkflows

MAX_RESULTS = 50
"""Results of one call, at most."""


Task = Annotated[
    str | None,
    Field(description="What is to be done, in your words, or a name. Without it, all are listed."),
]
SameAsTask = Annotated[str | None, Field(description="Another name of task.")]
WithTags = Annotated[Tags | None, Field(description="Only those that have all of these tags.")]
OfComplexity = Annotated[
    AnyCaseComplexity | None, Field(description="Only workflows of this size.")
]
InScope = Annotated[
    Scope,
    Field(
        description="all: everything that you may see; mine: your own; library: what you keep of "
        "others'. The last two need a sign-in."
    ),
]
Limit = Annotated[int, Field(description=f"How many results at most, from 1 to {MAX_RESULTS}.")]


def tools(search: Search) -> list[Tool]:
    """The tools, in the order in which an agent needs them."""
    return [_workflows(search), _skills(search)]


def _workflows(search: Search) -> Tool:
    async def get_available_workflows(
        task: Task = None,
        task_description: SameAsTask = None,
        tags: WithTags = None,
        complexity: OfComplexity = None,
        scope: InScope = "all",
        limit: Limit = 10,
        *,
        caller: Caller,
    ) -> Wire:
        """Find a workflow for a task before you begin it: a plan of steps that people have written
        for that kind of work, from a quick fix to a whole product. Best first; without a task,
        they are listed by name. Then call `select_workflow` with the `id` of the one that fits."""
        filters = Filters(tuple(tags or ()), complexity, scope)
        query = _first_text(task, task_description)
        looks = _viewer(scope, caller)
        found = await search.workflows(query, looks, filters, clamp(limit, MAX_RESULTS))
        return AvailableWorkflows.of(found, looks).wire()

    return open_tool(get_available_workflows, "Find a workflow", AvailableWorkflows)


def _skills(search: Search) -> Tool:
    async def get_skills(
        task_description: Task = None,
        task: Annotated[str | None, Field(description="Another name of task_description.")] = None,
        search_text: Annotated[
            str | None,
            Field(alias="search", description="Another name of task_description."),
        ] = None,
        tags: WithTags = None,
        scope: InScope = "all",
        limit: Limit = 10,
        *,
        caller: Caller,
    ) -> Wire:
        """Find a skill card of the playbook for a task: instructions for one kind of work, which
        members write here and use in workflows. Best first; without a task, they are listed by
        name. Then call `get_selected_skill` with the `id` of the one that fits. Skills from
        repositories are not among these; they have other tools."""
        filters = Filters(tuple(tags or ()), None, scope)
        query = _first_text(task_description, task, search_text)
        looks = _viewer(scope, caller)
        found = await search.skills(query, looks, filters, clamp(limit, MAX_RESULTS))
        return AvailableSkills.of(found, looks).wire()

    return open_tool(get_skills, "Find a skill card", AvailableSkills)


def _viewer(scope: Scope, caller: Caller) -> Viewer:
    """Who looks.

    Raises:
        ToolFailed: something of the caller's own is asked for, and nobody has signed in.
    """
    return caller.person if scope == "all" else signed_in(caller)


def _first_text(*given: str | None) -> str | None:
    """The first text in which there is anything."""
    return next((each for each in given if each and not each.isspace()), None)
