"""Whole items: a workflow with everything in it, a skill card with its files, mini-prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Row, Table, and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows.model import (
    PORTAL,
    Attachment,
    AutoPrompt,
    MiniPrompt,
    Skill,
    Stage,
    StageItem,
    TargetType,
    Viewer,
    Workflow,
    stage_settings,
)
from plugins.workflows.store.kinds import STAGE_TABLES, TABLES, enum_or_none
from plugins.workflows.store.queries import complexity_of, item_fields, tags_of
from plugins.workflows.store.tables import (
    mini_prompts,
    skill_attachments,
    skills,
    stages,
    workflows,
)
from plugins.workflows.store.visibility import visible

RowFilter: TypeAlias = Callable[[Table], ColumnElement[bool]]
"""Which rows of a table are read, of the items in a workflow."""


@dataclass(frozen=True, slots=True)
class _StageEntry:
    """What a stage holds at a place; nothing where it is an item that is not read."""

    position: int
    id: str
    item: StageItem | None


def visible_to(viewer: Viewer) -> RowFilter:
    """Read what someone sees."""
    return lambda table: visible(table, viewer)


def not_deleted(table: Table) -> ColumnElement[bool]:
    """Read all that is there, whoever may see it: for what leaves out the rest afterwards."""
    return table.c.deleted.is_(None)


async def read_workflows(
    connection: AsyncConnection, where: ColumnElement[bool], seen: RowFilter
) -> list[Workflow]:
    """Whole workflows, in seven queries at most.

    Args:
        connection: one of ``queries.snapshot``, or a writing transaction.
        where: which workflows: with ``visible``, or for one that was found by it.
        seen: which items in them.
    """
    rows = (await connection.execute(select(workflows).where(where))).all()
    ids = [row.id for row in rows]
    if not ids:
        return []
    tags = await tags_of(connection, TargetType.WORKFLOW, ids)
    theirs = await _stages(connection, ids, seen)
    return [_workflow(row, tags.get(row.id, ()), theirs.get(row.id, ())) for row in rows]


async def read_skills(connection: AsyncConnection, where: ColumnElement[bool]) -> list[Skill]:
    """Whole skill cards, without the bytes of their files.

    Args:
        connection: as for :func:`read_workflows`.
        where: which cards: never without ``visible``.
    """
    rows = (await connection.execute(select(skills).where(where))).all()
    return list((await _skills(connection, rows)).values())


async def read_prompts(connection: AsyncConnection, where: ColumnElement[bool]) -> list[MiniPrompt]:
    """Mini-prompts; ``where`` is never without ``visible``."""
    return [_prompt(row) for row in await connection.execute(select(mini_prompts).where(where))]


async def automatic(connection: AsyncConnection) -> dict[AutoPrompt, MiniPrompt]:
    """The portal's automatic prompts; those that it has."""
    theirs = and_(visible(mini_prompts, PORTAL), mini_prompts.c.owner == PORTAL)
    found = await read_prompts(connection, and_(theirs, mini_prompts.c.automatic.is_not(None)))
    return {each.automatic: each for each in found if each.automatic is not None}


async def _stages(
    connection: AsyncConnection, ids: Sequence[str], seen: RowFilter
) -> dict[str, list[Stage]]:
    query = select(stages).where(stages.c.workflow.in_(ids)).order_by(stages.c.position)
    rows = (await connection.execute(query)).all()
    if not rows:
        return {}
    held = await _entries(connection, ids, seen)
    found: dict[str, list[Stage]] = {}
    for row in rows:
        found.setdefault(row.workflow, []).append(_stage(row, held.get(row.id, [])))
    return found


async def _entries(
    connection: AsyncConnection, ids: Sequence[str], seen: RowFilter
) -> dict[str, list[_StageEntry]]:
    prompts = await _stage_rows(connection, TargetType.MINI_PROMPT, ids, seen)
    placed = await _stage_rows(connection, TargetType.SKILL, ids, seen)
    items: dict[str, MiniPrompt | Skill] = {row.id: _prompt(row) for row in prompts if row.id}
    items |= await _skills(connection, [row for row in placed if row.id is not None])
    found: dict[str, list[_StageEntry]] = {}
    for row in (*prompts, *placed):
        item = None if row.id is None else StageItem(items[row.id], row.said)
        found.setdefault(row.stage, []).append(_StageEntry(row.position, row.item, item))
    return found


async def _stage_rows(
    connection: AsyncConnection, type: TargetType, ids: Sequence[str], seen: RowFilter
) -> Sequence[Row[Any]]:
    """The items of one kind in workflows' stages, with null where they are not to be read."""
    table, (places, item) = TABLES[type], STAGE_TABLES[type]
    joined = places.join(stages, stages.c.id == places.c.stage).outerjoin(
        table, and_(table.c.id == item, seen(table))
    )
    columns = (places.c.stage, places.c.position, item.label("item"), places.c.extra.label("said"))
    query = select(*columns, *table.c).select_from(joined).where(stages.c.workflow.in_(ids))
    return (await connection.execute(query)).all()


async def _skills(connection: AsyncConnection, rows: Sequence[Row[Any]]) -> dict[str, Skill]:
    ids = sorted({row.id for row in rows})
    if not ids:
        return {}
    tags = await tags_of(connection, TargetType.SKILL, ids)
    of = skill_attachments.c.skill
    query = select(skill_attachments).where(of.in_(ids)).order_by(skill_attachments.c.position)
    files: dict[str, list[Attachment]] = {}
    for row in await connection.execute(query):
        file = Attachment(row.name, row.mime_type, row.size, row.digest)
        files.setdefault(row.skill, []).append(file)
    return {
        row.id: Skill(
            **item_fields(row),
            content=row.content,
            tags=tags.get(row.id, ()),
            attachments=tuple(files.get(row.id, ())),
        )
        for row in rows
    }


def _workflow(row: Row[Any], tags: tuple[str, ...], stages: Sequence[Stage]) -> Workflow:
    return Workflow(
        **item_fields(row),
        complexity=complexity_of(row),
        include_multi_agent_chat=row.include_multi_agent_chat,
        tags=tags,
        stages=tuple(stages),
        extra=row.extra,
        origin=row.origin,
        origin_version=row.origin_version,
    )


def _stage(row: Row[Any], held: Sequence[_StageEntry]) -> Stage:
    held = sorted(held, key=lambda each: each.position)
    read = {each.id for each in held if each.item is not None}
    left_out = {each.id for each in held} - read
    settings = stage_settings(row)
    if settings["item_order"] is not None:
        settings["item_order"] = tuple(x for x in settings["item_order"] if x not in left_out)
    items = tuple(each.item for each in held if each.item is not None)
    return Stage(**settings, id=row.id, items=items)


def _prompt(row: Row[Any]) -> MiniPrompt:
    automatic = enum_or_none(AutoPrompt, row.automatic)
    return MiniPrompt(**item_fields(row), content=row.content, automatic=automatic)
