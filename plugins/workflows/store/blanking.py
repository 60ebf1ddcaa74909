"""Emptying the rows of what is gone for good: others may refer to them, so an id and times stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, delete, select, update

from plugins.workflows.model import FORMER, TargetType, Visibility
from plugins.workflows.store.change import Change
from plugins.workflows.store.kinds import TABLES, TAG_TABLES, TEXT_TABLES
from plugins.workflows.store.tables import (
    plans,
    ratings,
    revision_files,
    revisions,
    skill_attachments,
    stages,
)

Rows = Callable[[TargetType, Table], ColumnElement[bool]]
"""Which rows of a kind of item are meant."""

_WORKFLOW, _SKILL = TargetType.WORKFLOW, TargetType.SKILL
_BLANK_ITEM: dict[str, Any] = {
    "owner": FORMER,
    "author": None,
    "name": "",
    "description": None,
    "visibility": Visibility.PRIVATE,
    "content": "",
    "complexity": None,
    "extra": {},
    "origin": None,
    "origin_version": None,
}
"""The columns of an erased item."""


def ids_of(rows: Rows) -> Mapping[TargetType, Select[Any]]:
    """The queries for the ids of rows, by their kind."""
    return {type: select(table.c.id).where(rows(type, table)) for type, table in TABLES.items()}


def revisions_of(type: TargetType | str, ids: Select[Any]) -> ColumnElement[bool]:
    """The condition that a revision is of one of some items."""
    return and_(revisions.c.type == type, revisions.c.target.in_(ids))


async def blank(change: Change, rows: Rows) -> None:
    """Empty rows, and delete what only they have: stages, plans, versions, tags, texts, files.

    Args:
        change: the transaction, finished.
        rows: which ones; nothing else of the playbook may need their words.
    """
    connection, mine = change.connection, ids_of(rows)
    await connection.execute(delete(plans).where(plans.c.workflow.in_(mine[_WORKFLOW])))
    await connection.execute(delete(ratings).where(ratings.c.workflow.in_(mine[_WORKFLOW])))
    await connection.execute(delete(stages).where(stages.c.workflow.in_(mine[_WORKFLOW])))
    files = skill_attachments.c.skill.in_(mine[_SKILL])
    gone = delete(skill_attachments).where(files).returning(skill_attachments.c.digest)
    change.dropped |= set(await connection.scalars(gone))
    older = delete(revision_files).where(revision_files.c.skill.in_(mine[_SKILL]))
    change.dropped |= set(await connection.scalars(older.returning(revision_files.c.digest)))
    for type, (table, of) in TAG_TABLES.items():
        await connection.execute(delete(table).where(of.in_(mine[type])))
    for type, (table, of) in TEXT_TABLES.items():
        nothing = update(table).where(of.in_(mine[type]))
        await connection.execute(nothing.values(text="", model=None, vector=None))
    for type, table in TABLES.items():
        await connection.execute(delete(revisions).where(revisions_of(type, mine[type])))
        values = {name: value for name, value in _BLANK_ITEM.items() if name in table.c}
        emptied = update(table).where(rows(type, table))
        await connection.execute(emptied.values(**values, key=table.c.id))
