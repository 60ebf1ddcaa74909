"""Writing what search reads of items, and reading those that were written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, insert, select, update

from plugins.workflows.model import Skill, TargetType, Visibility, Workflow
from plugins.workflows.store.change import Change
from plugins.workflows.store.full_items import not_deleted, read_skills, read_workflows, visible_to
from plugins.workflows.store.item_texts import skill_text, workflow_text
from plugins.workflows.store.kinds import TABLES, TEXT_TABLES
from plugins.workflows.store.sequence import next_value

_FLOW = TargetType.WORKFLOW
Vectors = Mapping[str, tuple[str | None, bytes | None]]
"""The model and the vector of texts."""


class UnembeddedText(NamedTuple):
    """A text of an item that was written without a vector."""

    type: TargetType
    id: str
    text: str


async def write_texts(change: Change, vectors: Vectors) -> list[UnembeddedText]:
    """Write what search reads of the items that a transaction has written.

    It is called behind everything else, since the stamp is drawn here. An item that stays, with
    the text that it has, keeps its vector and gets a stamp: search then reads anew whether it is
    published, or deleted.

    Args:
        change: the transaction, finished.
        vectors: those of some texts.

    Returns:
        The texts of written items that have no vector by now.
    """
    new = {TargetType.WORKFLOW: await _workflows(change), TargetType.SKILL: await _skills(change)}
    old = {type: await _stored(change, type, texts) for type, texts in new.items()}
    lacking: list[UnembeddedText] = []
    if not change.written and old == new:
        return lacking
    stamp = await next_value(change.connection)
    for type, texts in new.items():
        other = {id: text for id, text in texts.items() if old[type].get(id) != text}
        await _write(change, type, other, stamp, (vectors, set(old[type])))
        same = {id for kind, id in change.written if kind is type} - other.keys()
        if same:
            table, of = TEXT_TABLES[type]
            stamped = update(table).where(of.in_(sorted(same))).values(stamp=stamp)
            await change.connection.execute(stamped)
        written = [id for id in other if (type, id) in change.written]
        lacking += [
            UnembeddedText(type, id, other[id]) for id in written if other[id] not in vectors
        ]
    return lacking


async def _write(
    change: Change,
    type: TargetType,
    texts: Mapping[str, str],
    stamp: int,
    known: tuple[Vectors, set[str]],
) -> None:
    vectors, there = known
    table, of = TEXT_TABLES[type]
    rows = []
    for id, text in texts.items():
        model, vector = vectors.get(text, (None, None))
        rows.append({"of": id, "t": text, "m": model, "v": vector, "s": stamp})
    columns = {"text": "t", "model": "m", "vector": "v", "stamp": "s"}
    values: dict[str, Any] = {name: bindparam(given) for name, given in columns.items()}
    if again := [row for row in rows if row["of"] in there]:
        changed = update(table).where(of == bindparam("of")).values(values)
        await change.connection.execute(changed, again)
    if new := [row for row in rows if row["of"] not in there]:
        added = insert(table).values({**values, of.name: bindparam("of")})
        await change.connection.execute(added, new)


async def _workflows(change: Change) -> dict[str, str]:
    """The texts of workflows that were written, or that show other names than before."""
    written = {id for type, id in change.written if type is _FLOW}
    found = await written_workflows(change, written)
    if change.renamed and (others := sorted(change.bumped - written)):
        shown = await read_workflows(change.connection, _live(_FLOW, others), not_deleted)
        found = [*found, *shown]
    return {each.id: workflow_text(_as_shown(each)) for each in found}


async def written_workflows(change: Change, ids: Collection[str]) -> Sequence[Workflow]:
    """Workflows that a finished change has written, as their writer sees them; read once."""
    if new := sorted(set(ids) - change.read.keys()):
        seen = visible_to(change.writer.person)
        found = await read_workflows(change.connection, _live(_FLOW, new), seen)
        change.read |= {each.id: each for each in found}
    return [change.read[id] for id in ids if id in change.read]


async def _skills(change: Change) -> dict[str, str]:
    ids = {id for type, id in change.written if type is TargetType.SKILL}
    return {each.id: skill_text(each) for each in await written_skills(change, ids)}


async def written_skills(change: Change, ids: Collection[str]) -> Sequence[Skill]:
    """Cards that a finished change has written; read once."""
    if new := sorted(set(ids) - change.read_skills.keys()):
        found = await read_skills(change.connection, _live(TargetType.SKILL, new))
        change.read_skills |= {each.id: each for each in found}
    return [change.read_skills[id] for id in ids if id in change.read_skills]


def _live(type: TargetType, ids: Sequence[str]) -> ColumnElement[bool]:
    table = TABLES[type]
    return and_(table.c.id.in_(ids), table.c.deleted.is_(None))


async def _stored(change: Change, type: TargetType, texts: Collection[str]) -> dict[str, str]:
    ids = sorted(set(texts) - change.added)
    if not ids:
        return {}
    table, of = TEXT_TABLES[type]
    query = select(of.label("of"), table.c.text).where(of.in_(ids))
    return {row.of: row.text for row in await change.connection.execute(query)}


def _as_shown(workflow: Workflow) -> Workflow:
    """A workflow with the items that everyone sees who sees the workflow.

    Nobody finds it by the name of a card that is hidden from them.
    """
    is_private = workflow.visibility is Visibility.PRIVATE
    stages = []
    for stage in workflow.stages:
        items = tuple(
            each
            for each in stage.items
            if each.item.visibility is Visibility.PUBLIC
            or (is_private and each.item.owner == workflow.owner)
        )
        stages.append(replace(stage, items=items))
    return replace(workflow, stages=tuple(stages))
