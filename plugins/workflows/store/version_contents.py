"""The content of an item in each of its versions, stored for its owner alone.

A version has a content where words of the owner's changed. One that only something of others made
(a card or a prompt that the workflow uses) says what the version before it said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import and_, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows.model import Skill, Stage, StageItem, TargetType, Workflow, stage_settings
from plugins.workflows.store.change import Change
from plugins.workflows.store.search_texts import written_skills, written_workflows
from plugins.workflows.store.tables import revision_files, revisions

Content = Mapping[str, Any]
"""An item as JSON values, in the words of an edit."""

_WORKFLOW, _SKILL = TargetType.WORKFLOW, TargetType.SKILL


async def record(change: Change) -> None:
    """Keep what the items of a finished change say now, as far as they are the writer's own."""
    latest = {(each.type, each.target): each.revision.version for each in change.revised}
    flows = [id for type, id in latest if type is _WORKFLOW]
    if change.automatic:  # which is in every workflow, and in the words of none
        flows = [id for id in flows if (_WORKFLOW, id) in change.written]
    for flow in await written_workflows(change, flows):
        if flow.owner == change.writer.person:
            await _record_one(
                change, _WORKFLOW, flow.id, latest[_WORKFLOW, flow.id], workflow_content(flow)
            )
    cards = [id for type, id in latest if type is _SKILL]
    for card in await written_skills(change, cards):
        version = latest[_SKILL, card.id]
        await _record_one(change, _SKILL, card.id, version, skill_content(card))
        files = {each.digest for each in card.attachments}
        rows = [{"skill": card.id, "version": version, "digest": each} for each in sorted(files)]
        if rows:
            await change.connection.execute(insert(revision_files), rows)


async def read(
    connection: AsyncConnection, type: TargetType, target: str, version: int
) -> Content | None:
    """What an item said in a version; None where that was not kept.

    Args:
        connection: to read with.
        type: what kind of item it is.
        target: its id; it is the reader's own.
        version: which.
    """
    its = and_(revisions.c.type == type, revisions.c.target == target)
    query = select(revisions.c.content).where(its, revisions.c.version <= version)
    latest = query.where(revisions.c.content.is_not(None)).order_by(revisions.c.version.desc())
    found: Content | None = await connection.scalar(latest.limit(1))
    return found


async def forget_files(connection: AsyncConnection, skill: str) -> set[str]:
    """Let the files of a card's versions go; their digests."""
    gone = delete(revision_files).where(revision_files.c.skill == skill)
    return set(await connection.scalars(gone.returning(revision_files.c.digest)))


def workflow_content(workflow: Workflow) -> Content:
    """A workflow's content; of cards in it no more than their names."""
    return {
        "name": workflow.name,
        "description": workflow.description,
        "complexity": workflow.complexity,
        "include_multi_agent_chat": workflow.include_multi_agent_chat,
        "tags": list(workflow.tags),
        "extra": dict(workflow.extra),
        "stages": [_stage(each) for each in workflow.stages],
    }


def skill_content(skill: Skill) -> Content:
    """A card's content; of its files the names, sizes and digests."""
    return {
        "name": skill.name,
        "description": skill.description,
        "content": skill.content,
        "tags": list(skill.tags),
        "attachments": [asdict(each) for each in skill.attachments],
    }


def _stage(stage: Stage) -> Content:
    order = stage.item_order
    return {
        "id": stage.id,
        **stage_settings(stage),
        "item_order": None if order is None else list(order),
        "items": [_item(each) for each in stage.items],
    }


def _item(placed: StageItem) -> Content:
    item = placed.item
    own: Content = {"description": item.description, "content": item.content}
    words = {} if isinstance(item, Skill) else own
    told = {"type": item.type, "id": item.id, "name": item.name}
    return {**told, **words, "extra": dict(placed.extra)}


async def _record_one(
    change: Change, type: TargetType, id: str, version: int, content: Content
) -> None:
    this = (revisions.c.type == type, revisions.c.target == id, revisions.c.version == version)
    await change.connection.execute(update(revisions).where(*this).values(content=content))
