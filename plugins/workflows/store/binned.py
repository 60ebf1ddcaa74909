"""Deleted workflows, as their owners find them again; each function is for an owner's own alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Table,
    Text,
    and_,
    delete,
    func,
    literal,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows import errors
from plugins.workflows.model import FORMER, PORTAL, TargetType, Visibility
from plugins.workflows.store.blanking import blank
from plugins.workflows.store.change import Change
from plugins.workflows.store.keys import free_key
from plugins.workflows.store.kinds import STAGE_TABLES
from plugins.workflows.store.queries import REFERENCE
from plugins.workflows.store.tables import (
    folder_items,
    library,
    mini_prompts,
    plans,
    stage_mini_prompts,
    stages,
    workflows,
)

_WORKFLOW, _PROMPT = TargetType.WORKFLOW, TargetType.MINI_PROMPT
_IN_BIN = "Workflow in your bin"
_MAX_PURGED = 1_000
"""Workflows that one purge erases; the next one goes on."""


@dataclass(frozen=True, slots=True)
class BinnedWorkflow:
    """A deleted workflow; ``key`` is the one that it had."""

    id: str
    key: str
    name: str
    description: str | None
    deleted: datetime


def described(row: Row[Any]) -> BinnedWorkflow:
    """What its owner is told of a row."""
    return BinnedWorkflow(row.id, _key(row), row.name, row.description, row.deleted)


async def listed(connection: AsyncConnection, person: str, limit: int) -> list[BinnedWorkflow]:
    """A person's deleted workflows, the one deleted last first."""
    query = select(workflows).where(_binned(person))
    query = query.order_by(workflows.c.deleted.desc(), workflows.c.id).limit(limit)
    return [described(row) for row in await connection.execute(query)]


async def own(connection: AsyncConnection, ref: str, person: str) -> Row[Any]:
    """The row of a deleted workflow of somebody's.

    Args:
        connection: to read with.
        ref: its id, or the key that it had.
        person: its owner.

    Raises:
        ToolFailed: there is none, or several had that key.
    """
    if not REFERENCE.fullmatch(ref):
        raise errors.not_found(_IN_BIN)
    had = workflows.c.key == literal(f"{ref}~") + workflows.c.id
    query = select(workflows).where(_binned(person), or_(workflows.c.id == ref, had))
    rows = (await connection.execute(query)).all()
    exact = [row for row in rows if row.id == ref]
    if exact or len(rows) == 1:
        return (exact or rows)[0]
    if rows:
        raise errors.bad_input(
            f"Several workflows in your bin had the key {ref}. Name one by its id: "
            f"{', '.join(sorted(row.id for row in rows))}."
        )
    raise errors.not_found(_IN_BIN)


async def restore(change: Change, row: Row[Any]) -> None:
    """Write a deleted workflow as one that is there, for its owner alone, with its own prompts."""
    await _bring_back(change, _WORKFLOW, row)
    places = select(stage_mini_prompts.c.mini_prompt).join(
        stages, stages.c.id == stage_mini_prompts.c.stage
    )
    prompts = select(mini_prompts).where(
        mini_prompts.c.id.in_(places.where(stages.c.workflow == row.id)),
        mini_prompts.c.owner == change.writer.person,
        mini_prompts.c.deleted.is_not(None),
    )
    for each in (await change.connection.execute(prompts)).all():
        await _bring_back(change, _PROMPT, each)


async def _bring_back(change: Change, type: TargetType, row: Row[Any]) -> None:
    key = await free_key(change.connection, type, row.owner, None, _key(row))
    values = {"deleted": None, "key": key, "visibility": Visibility.PRIVATE}
    await change.edit(type, row, values, ["restored"])


async def count_items(connection: AsyncConnection, workflow: str) -> int:
    """How many places for items a workflow's stages have, whoever sees those."""
    total = 0
    for places, _ in STAGE_TABLES.values():
        held = places.join(stages, stages.c.id == places.c.stage)
        query = select(func.count()).select_from(held).where(stages.c.workflow == workflow)
        total += await connection.scalar(query) or 0
    return total


async def owner_if_deleted(connection: AsyncConnection, workflow: str) -> str | None:
    """Whose a deleted workflow is, or None for one that is there or never was."""
    its = and_(workflows.c.id == workflow, workflows.c.deleted.is_not(None))
    found: str | None = await connection.scalar(select(workflows.c.owner).where(its))
    return found


async def expired(
    connection: AsyncConnection, before: datetime, owner: str | None = None
) -> Mapping[str, list[str]]:
    """People's workflows that were deleted before a time, by their owners.

    Args:
        connection: to read with.
        before: the time.
        owner: whose alone, or None for everyone's.
    """
    whose = workflows.c.owner.not_in((PORTAL, FORMER))
    if owner is not None:
        whose = workflows.c.owner == owner
    query = select(workflows.c.id, workflows.c.owner).where(whose, workflows.c.deleted < before)
    found: dict[str, list[str]] = {}
    for row in await connection.execute(query.order_by(workflows.c.deleted).limit(_MAX_PURGED)):
        found.setdefault(row.owner, []).append(row.id)
    return found


async def erase(change: Change, owner: str, ids: Sequence[str]) -> None:
    """Empty deleted workflows of one owner, and the prompts that nothing needs any more.

    A prompt's words stay where another workflow has it, in the bin too, or where a run of another
    workflow still follows a plan with it.

    Args:
        change: a transaction in which nothing else is written.
        owner: whose they are.
        ids: which.
    """
    prompts = await _unneeded_prompts(change.connection, owner, ids)
    gone: Mapping[TargetType, Collection[str]] = {_WORKFLOW: ids, _PROMPT: prompts}

    def rows(type: TargetType, table: Table) -> ColumnElement[bool]:
        return table.c.id.in_(sorted(gone.get(type, ())))

    await blank(change, rows)
    for table in (library, folder_items):
        kept = and_(table.c.type == _WORKFLOW, table.c.target.in_(ids))
        await change.connection.execute(delete(table).where(kept))


async def _unneeded_prompts(
    connection: AsyncConnection, owner: str, flows: Collection[str]
) -> set[str]:
    held = select(stage_mini_prompts.c.mini_prompt).join(
        stages, stages.c.id == stage_mini_prompts.c.stage
    )
    deleted = select(mini_prompts.c.id).where(
        mini_prompts.c.owner == owner,
        mini_prompts.c.deleted.is_not(None),
        mini_prompts.c.id.not_in(held.where(stages.c.workflow.not_in(flows))),
    )
    found = set(await connection.scalars(deleted))
    if not found:
        return found
    text = type_coerce(plans.c.plan, Text)
    for written in await connection.scalars(select(text).where(plans.c.workflow.not_in(flows))):
        try:
            found -= {each["id"] for each in json.loads(written)["items"]}
        except (ValueError, KeyError, TypeError):
            continue  # damaged, and shown to nobody
    return found


def _binned(person: str) -> ColumnElement[bool]:
    return and_(workflows.c.owner == person, workflows.c.deleted.is_not(None))


def _key(row: Row[Any]) -> str:
    key: str = row.key
    return key.removesuffix(f"~{row.id}")
