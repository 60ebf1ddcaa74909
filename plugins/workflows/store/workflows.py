"""Writing workflows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Row, select

from plugins.workflows import checks, errors
from plugins.workflows.drafts import WorkflowDraft
from plugins.workflows.ids import slug
from plugins.workflows.model import TargetType, Visibility
from plugins.workflows.store import mini_prompts, workflow_stages
from plugins.workflows.store.change import Change
from plugins.workflows.store.items import new_columns, new_tags, own, write_tags
from plugins.workflows.store.keys import free, id_for
from plugins.workflows.store.kinds import known
from plugins.workflows.store.mini_prompts import Home, Put
from plugins.workflows.store.workflow_stages import Arranged, prompts_in
from plugins.workflows.tables import skills, stage_skills, stages

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
FIELDS = tuple(each.name for each in fields(WorkflowDraft))


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an edit changes; None where something stays."""

    columns: Mapping[str, Any]
    tags: Sequence[str] | None
    stages: Sequence[Arranged] | None

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
        by_key: whether it is imported (``prompts.Home``).
    """
    checks.plan_size(draft.stages, draft.include_multi_agent_chat)
    person = change.writer.person
    key = await free(change.connection, _KIND, person, draft.key, draft.name)
    id = id_for(_KIND, person, key)
    row = {name: getattr(draft, name) for name in _COLUMNS} | {"id": id, "key": key}
    await change.add(_KIND, [row])
    await write_tags(change, _KIND, id, draft.tags)
    home = Home(key, draft.visibility, by_key=by_key)
    arranged = await workflow_stages.arrange(change, id, home, draft.stages)
    await workflow_stages.replace(change, id, arranged)
    await _settle(change, id, draft.visibility, prompts_in(arranged))
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
    before: Sequence[Arranged] = ()
    if {"stages", "visibility", "include_multi_agent_chat"} & changes.keys():
        before = await workflow_stages.held(change.connection, row.id)
    edited = _Edit(
        columns,
        await new_tags(change, _KIND, row.id, changes),
        await _new_stages(change, row, changes, before, removed, by_key=by_key),
    )
    if not edited.fields:
        return False
    after = before if edited.stages is None else edited.stages
    chat = columns.get("include_multi_agent_chat", row.include_multi_agent_chat)
    checks.plan_size(after, chat)
    await change.edit(_KIND, row, columns, edited.fields)
    if edited.tags is not None:
        await write_tags(change, _KIND, row.id, edited.tags)
    if edited.stages is not None:
        await workflow_stages.replace(change, row.id, edited.stages)
    if edited.stages is not None or "visibility" in columns:
        visibility = columns.get("visibility", row.visibility)
        await _settle(change, row.id, visibility, prompts_in(before) | prompts_in(after))
    return True


async def remove(change: Change, row: Row[Any]) -> None:
    """Delete a workflow, and the mini-prompts that were written with it and are used nowhere."""
    before = await workflow_stages.held(change.connection, row.id)
    await change.remove(_KIND, row)
    await mini_prompts.follow(change, prompts_in(before))


async def put(change: Change, draft: WorkflowDraft) -> Put:
    """Write a workflow by its key: a new one, or all values of the one that is there."""
    row = await own(change, _KIND, draft.key or slug(draft.name))
    if row is None:
        await add(change, draft, by_key=True)
        return "added"
    values = {name: getattr(draft, name) for name in FIELDS if name != "key"}
    return "updated" if await edit(change, row, values, by_key=True) else "unchanged"


async def _new_stages(
    change: Change,
    row: Row[Any],
    changes: Mapping[str, Any],
    before: Sequence[Arranged],
    removed: Collection[str] | None,
    *,
    by_key: bool,
) -> Sequence[Arranged] | None:
    """The stages as they are to be, or None where they are so already."""
    if "stages" not in changes:
        return None
    visibility = known(Visibility, changes.get("visibility", row.visibility)) or Visibility.PRIVATE
    home = Home(row.key, visibility, prompts_in(before), by_key)
    wanted = changes["stages"]
    after = await workflow_stages.arrange(
        change, row.id, home, wanted, before, keep_unseen=removed is not None
    )
    if removed is not None:
        after = workflow_stages.with_left_out(after, before, removed)
    is_same = after == list(before) and change.touched.isdisjoint(prompts_in(after))
    return None if is_same else after


async def _settle(change: Change, id: str, visibility: str, held: frozenset[str]) -> None:
    """See to it that what is in a workflow fits its visibility."""
    await mini_prompts.follow(change, held)
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
