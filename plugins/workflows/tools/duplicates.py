"""The tool that copies a workflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Exchange, Tool
from plugins.workflows.duplicates import duplicate
from plugins.workflows.notifications import Notifications
from plugins.workflows.playbook import Playbook
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.base import ADDS, Wire, personal_tool
from plugins.workflows.tools.callers import writer
from plugins.workflows.tools.execution import WorkflowId
from plugins.workflows.tools.results.edits import Written


def tool(
    playbook: Playbook, exchange: Callable[[], Exchange], notifications: Notifications
) -> Tool:
    """The tool; it makes no sense for someone who has not signed in.

    Args:
        playbook: where both workflows are.
        exchange: gives the call that is running.
        notifications: tells clients of the copy.
    """

    async def duplicate_workflow(
        workflow_id: WorkflowId,
        name: Annotated[
            Name | None, Field(description='The copy\'s name; "Copy of" its name, if not given.')
        ] = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Copy a workflow that you see, to change it: the copy is yours, PRIVATE, and says where it
        came from (`copiedFrom` in `get_workflow`). Its mini-prompts are your own then; skill cards
        are used as they are."""
        _, made = await duplicate(playbook, writer(caller, exchange()), workflow_id, name)
        notifications.lists_changed()
        return Written.of(made, "added").wire()

    return personal_tool(duplicate_workflow, "Copy a workflow", Written, ADDS)
