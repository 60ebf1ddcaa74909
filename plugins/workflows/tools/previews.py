"""The tools that show a workflow, new or edited, before it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateway.contract import Caller, Exchange, Tier, Tool
from plugins.workflows.errors import bad_input
from plugins.workflows.playbook import Playbook
from plugins.workflows.previews import difference, preview, preview_new
from plugins.workflows.store.version_contents import workflow_content
from plugins.workflows.tools.arguments.workflows import AddWorkflow, EditWorkflow
from plugins.workflows.tools.base import READS, Wire
from plugins.workflows.tools.callers import writer
from plugins.workflows.tools.edits import order_warnings
from plugins.workflows.tools.execution import stage_details
from plugins.workflows.tools.results.previews import EditPreview, NewPreview

_FOR_WRITERS: dict[str, Any] = {
    "tier": Tier.PUBLIC,
    "floor": Tier.PUBLIC,
    "annotations": READS,
}


def tools(playbook: Playbook, exchange: Callable[[], Exchange]) -> list[Tool]:
    """The tools, for edits first.

    Args:
        playbook: what would be written to.
        exchange: gives the call that is running, which knows who may publish.
    """
    return [_edit_tool(playbook, exchange), _new_tool(playbook, exchange)]


def _edit_tool(playbook: Playbook, exchange: Callable[[], Exchange]) -> Tool:
    async def run(args: EditWorkflow, caller: Caller) -> Wire:
        if args.is_active is False:
            raise bad_input("A deletion has no preview: restore_workflow undoes it.")
        who = writer(caller, exchange())
        before = await playbook.workflow(args.workflow_id, who.person)
        after = await preview(
            playbook, who, before.id, args.version, args.changes(before), args.remove_stages
        )
        return EditPreview(
            id=before.id,
            version=before.version,
            name=after.name,
            changed=after.version != before.version,
            visibility=after.visibility,
            diff=difference(workflow_content(before), workflow_content(after)),
            stages=[stage_details(each, who.person, include_content=True) for each in after.stages],
        ).wire()

    return Tool(
        name="preview_edit",
        title="Preview an edit",
        summary="See what `edit_workflow` would make of a workflow of your own, with the same "
        "arguments: what changes, and its stages then. Nothing is written.",
        run=run,
        args=EditWorkflow,
        result=EditPreview,
        **_FOR_WRITERS,
    )


def _new_tool(playbook: Playbook, exchange: Callable[[], Exchange]) -> Tool:
    async def run(args: AddWorkflow, caller: Caller) -> Wire:
        who = writer(caller, exchange())
        made = await preview_new(playbook, who, args.draft(), args.place())
        stages = [stage_details(each, who.person, include_content=True) for each in made.stages]
        return NewPreview.of(made, stages, order_warnings(args.stages, made.stages)).wire()

    return Tool(
        name="preview_workflow",
        title="Preview a workflow",
        summary="See what `add_workflow` would write, with the same arguments: the workflow with "
        "its stages, and what may not be as you meant it. Nothing is written.",
        run=run,
        args=AddWorkflow,
        result=NewPreview,
        **_FOR_WRITERS,
    )
