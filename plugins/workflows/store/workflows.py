"""Writing workflows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Row, select

from plugins.workflows import checks, errors
from plugins.workflows.ids import slug
from plugins.workflows.inputs import WorkflowDraft
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store import mini_prompts, workflow_stages
from plugins.workflows.store.change import Change
from plugins.workflows.store.items import new_columns, new_tags, own_item, write_tags
from plugins.workflows.store.keys import free_key, new_item_id
from plugins.workflows.store.kinds import enum_or_none
from plugins.workflows.store.mini_prompts import OwningWorkflow, PutOutcome
from plugins.workflows.store.tables import skills, stage_skills, stages
from plugins.workflows.store.workflow_stages import StoredStage, prompt_ids

_KIND = TargetType.WORKFLOW
_COLUMNS = (
    "name",
    "description",
    "complexity",
    "include_multi_agent_chat",
    "visibility",
    "extra",
    "key",
)
_ORIGIN = ("origin", "origin_version")
"""Columns that are written once."""
FIELDS = tuple(each.name for each in fields(WorkflowDraft))


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an edit changes; None where something stays."""

    columns: Mapping[str, Any]
    tags: Sequence[str] | None
    stages: Sequence[StoredStage] | None

    @property
    def fields(self) -> list[str]:
        """The fields of a draft that are new."""
        more = {"tags": self.tags, "stages": self.stages}
        return sorted([*self.columns, *(name for name, new in more.items() if new is not None)])


async def add(change: Change, draft: WorkflowDraft, *, by_key: bool = False) -> str:
    """Write a new workflow, and give its id.

    Args:
        change: the transaction.
        draft: checked.
        by_key: whether it is imported (``mini_prompts.OwningWorkflow``).
    """
    checks.check_plan_size(draft.stages, draft.include_multi_agent_chat)
    person = change.writer.person
    key = await free_key(change.connection, _KIND, person, draft.key, draft.name)
    id = new_item_id(_KIND, person, key)
    row = {name: getattr(draft, name) for name in (*_COLUMNS, *_ORIGIN)} | {"id": id, "key": key}
    await change.add(_KIND, [row])
    await write_tags(change, _KIND, id, draft.tags)
    home = OwningWorkflow(key, draft.visibility, by_key=by_key)
    arranged = await workflow_stages.prepare_stages(change, id, home, draft.stages)
    await workflow_stages.replace_stages(change, id, arranged)
    await _apply_visibility(change, id, draft.visibility, prompt_ids(arranged))
    return id


async def edit(
    change: Change,
    row: Row[Any],
    changes: Mapping[str, Any],
    removed: Collection[str] | None = None,
    *,
    by_key: bool = False,
) -> bool:
    """Write new values of a workflow.

    Args:
        change: the transaction.
        row: the workflow's columns as they are.
        changes: fields of a draft, checked.
        removed: the stages that are to go, where stages that are left out stay; None where the
            given ones are all there are to be.
        by_key: as for :func:`add`.

    Returns:
        Whether anything was written.
    """
    columns = await new_columns(change, _KIND, row, changes, _COLUMNS, by_key=by_key)
    before: Sequence[StoredStage] = ()
    if {"stages", "visibility", "include_multi_agent_chat"} & changes.keys():
        before = await workflow_stages.read_stages(change.connection, row.id)
    edited = _Edit(
        columns,
        await new_tags(change, _KIND, row.id, changes),
        await _new_stages(change, row, changes, before, removed, by_key=by_key),
    )
    if not edited.fields:
        return False
    after = before if edited.stages is None else edited.stages
    chat = columns.get("include_multi_agent_chat", row.include_multi_agent_chat)
    checks.check_plan_size(after, chat)
    await change.edit(_KIND, row, columns, edited.fields)
    if edited.tags is not None:
        await write_tags(change, _KIND, row.id, edited.tags)
    if edited.stages is not None:
        await workflow_stages.replace_stages(change, row.id, edited.stages)
    if edited.stages is not None or "visibility" in columns:
        visibility = columns.get("visibility", row.visibility)
        await _apply_visibility(change, row.id, visibility, prompt_ids(before) | prompt_ids(after))
    return True


async def remove(change: Change, row: Row[Any]) -> None:
    """Delete a workflow, and the mini-prompts that were written with it and are used nowhere."""
    before = await workflow_stages.read_stages(change.connection, row.id)
    await change.remove(_KIND, row)
    await mini_prompts.sync_with_workflows(change, prompt_ids(before))


async def put(change: Change, draft: WorkflowDraft) -> PutOutcome:
    """Write a workflow by its key: a new one, or all values of the one that is there."""
    row = await own_item(change, _KIND, draft.key or slug(draft.name))
    if row is None:
        await add(change, draft, by_key=True)
        return "added"
    values = {name: getattr(draft, name) for name in FIELDS if name != "key"}
    return "updated" if await edit(change, row, values, by_key=True) else "unchanged"


async def _new_stages(
    change: Change,
    row: Row[Any],
    changes: Mapping[str, Any],
    before: Sequence[StoredStage],
    removed: Collection[str] | None,
    *,
    by_key: bool,
) -> Sequence[StoredStage] | None:
    """The stages as they are to be, or None where they are so already."""
    if "stages" not in changes:
        return None
    visibility = (
        enum_or_none(Visibility, changes.get("visibility", row.visibility)) or Visibility.PRIVATE
    )
    home = OwningWorkflow(row.key, visibility, prompt_ids(before), by_key)
    wanted = changes["stages"]
    after = await workflow_stages.prepare_stages(
        change, row.id, home, wanted, before, keep_unseen=removed is not None
    )
    if removed is not None:
        after = workflow_stages.merge_left_out(after, before, removed)
    is_same = after == list(before) and change.touched.isdisjoint(prompt_ids(after))
    return None if is_same else after


async def _apply_visibility(change: Change, id: str, visibility: str, held: frozenset[str]) -> None:
    """See to it that what is in a workflow fits its visibility."""
    await mini_prompts.sync_with_workflows(change, held)
    if visibility != Visibility.PUBLIC:
        return
    query = (
        select(skills.c.name)
        .join(stage_skills, stage_skills.c.skill == skills.c.id)
        .join(stages, stages.c.id == stage_skills.c.stage)
        .where(stages.c.workflow == id, skills.c.owner == change.writer.person)
        .where(skills.c.visibility == Visibility.PRIVATE, skills.c.deleted.is_(None))
        .order_by(skills.c.name)
    )
    if names := list(dict.fromkeys(await change.connection.scalars(query))):
        raise errors.bad_input(
            "visibility: a published workflow holds no private skill card. Publish first: "
            f"{', '.join(names)}.",
            place="visibility",
            skills=names,
        )
