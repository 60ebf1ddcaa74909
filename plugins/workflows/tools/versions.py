"""The tools for older versions of one's own workflows and skill cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from gateway.contract import Caller, Exchange, Tool
from plugins.workflows.history import History
from plugins.workflows.limits import MAX_VERSION
from plugins.workflows.model import TargetType, Workflow
from plugins.workflows.notifications import Notifications
from plugins.workflows.tools.arguments.fields import ANY_CASE, Name
from plugins.workflows.tools.base import EDITS, READS, Wire, personal_tool
from plugins.workflows.tools.callers import signed_in, writer
from plugins.workflows.tools.results.edits import Written
from plugins.workflows.tools.results.versions import VersionInfo, Versions

Type = Annotated[Literal["WORKFLOW", "SKILL"], ANY_CASE, Field(description="What it is.")]
Id = Annotated[Name, Field(description="The id or key of a workflow or skill card of yours.")]
Number = Annotated[int, Field(ge=1, le=MAX_VERSION)]


def tools(
    history: History, exchange: Callable[[], Exchange], notifications: Notifications
) -> list[Tool]:
    """The tools.

    Args:
        history: the versions.
        exchange: gives the call that is running, which knows who may publish.
        notifications: tells clients what changed.
    """

    async def get_versions(
        id: Id,
        type: Type = "WORKFLOW",
        version: Number | None = None,
        compare_with: Number | None = None,
        *,
        caller: Caller,
    ) -> Wire:
        """See the older versions of a workflow or skill card of your own: when each was written
        and what was new, what it said, and how two of them differ.

        Args:
            version: One of the versions, to see what it said.
            compare_with: Another one, to see what changed from `version` to it.
        """
        kind, person = TargetType(type), signed_in(caller)
        target, found = await history.versions(kind, id, person)
        content = diff = None
        if version is not None and compare_with is not None:
            diff = await history.compare(kind, target, (version, compare_with), person)
        elif version is not None:
            content = dict(await history.content(kind, target, version, person))
        told = [VersionInfo.of(each) for each in reversed(found)]
        return Versions(type=type, id=target, versions=told, content=content, diff=diff).wire()

    async def restore_version(
        id: Id, version: Number, restore: Number, type: Type = "WORKFLOW", *, caller: Caller
    ) -> Wire:
        """Write a workflow or skill card of your own as it was in an older version, which
        `get_versions` shows. Nothing is lost: what it says now stays a version too. Who sees it
        stays as it is.

        Args:
            version: The version that it has now, as you read it.
            restore: The version that it is to be like.
        """
        kind, who = TargetType(type), writer(caller, exchange())
        done = await history.restore(kind, id, version, restore, who)
        if isinstance(done.item, Workflow):
            notifications.workflow_changed(done.item)
        warnings = [f"Not there any more, and left out: {each}." for each in done.missing]
        same = done.item.version == version
        return Written.of(done.item, "unchanged" if same else "updated", warnings=warnings).wire()

    return [
        personal_tool(get_versions, "See older versions", Versions, READS),
        personal_tool(restore_version, "Restore an older version", Written, EDITS),
    ]
