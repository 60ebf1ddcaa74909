"""What a new workflow would be, and what an edit would make of one: written, read, and taken back.

So a preview refuses what writing it would refuse, and shows what it would write.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff
from typing import Any

from plugins.workflows import checks
from plugins.workflows.files import yaml_text
from plugins.workflows.inputs import WorkflowDraft, Writer
from plugins.workflows.model import TargetType, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store import workflows as flows
from plugins.workflows.store.folders import Place, place
from plugins.workflows.store.search_texts import written_workflows
from plugins.workflows.store.version_contents import Content

_CONTEXT_LINES = 2
"""Lines around what differs."""


class _TakenBack(Exception):
    """Undoes the transaction of a preview."""


async def preview(
    playbook: Playbook,
    writer: Writer,
    id: str,
    version: int,
    changes: Mapping[str, Any],
    removed: Collection[str] | None,
) -> Workflow:
    """The workflow as an edit would leave it; arguments and errors as ``edit_workflow``'s.

    The ids of what is new in it are not those that it gets when it is written.
    """
    checked = checks.workflow(replace(WorkflowDraft(name="-"), **changes))
    values = {name: getattr(checked, name) for name in changes}
    made: Sequence[Workflow] = ()
    with suppress(_TakenBack):
        async with playbook.writing.change(writer) as change:
            row = await change.own(TargetType.WORKFLOW, id, version)
            await flows.edit(change, row, values, removed)
            await change.finish()
            made = await written_workflows(change, [row.id])
            raise _TakenBack
    return made[0]


async def preview_new(
    playbook: Playbook, writer: Writer, draft: WorkflowDraft, where: Place
) -> Workflow:
    """A workflow as it would be written; arguments and errors as ``add_workflow``'s.

    The ids in it are not those that it gets when it is written.
    """
    draft = checks.workflow(draft)
    made: Sequence[Workflow] = ()
    with suppress(_TakenBack):
        async with playbook.writing.change(writer) as change:
            id = await flows.add(change, draft)
            await place(change.connection, writer.person, TargetType.WORKFLOW, id, where)
            await change.finish()
            made = await written_workflows(change, [id])
            raise _TakenBack
    return made[0]


def difference(before: Content, after: Content) -> str:
    """What changed from one content of a workflow to another, for a person: without ids."""
    old, new = (yaml_text.write(_readable(each)).splitlines() for each in (before, after))
    lines = list(unified_diff(old, new, lineterm="", n=_CONTEXT_LINES))
    return "\n".join(lines[2:])  # without the names of files


def _readable(content: Content) -> dict[str, Any]:
    content = json.loads(json.dumps(content))  # as it is stored: without the types of enums
    return {**_told(content), "stages": [_stage(each) for each in content["stages"]]}


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    names = {each["id"]: each["name"] for each in stage["items"]}
    told = _told(stage) | {"items": [_told(each) for each in stage["items"]]}
    if stage["item_order"] is not None:
        told["item_order"] = [names.get(each, each) for each in stage["item_order"]]
    return told


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was said: no ids, and nothing that is empty."""
    said = {name: value for name, value in values.items() if name != "id"}
    return {name: value for name, value in said.items() if value not in (None, [], {}, False)}
