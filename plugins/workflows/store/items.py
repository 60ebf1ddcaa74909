"""What writing workflows, skill cards and mini-prompts has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, and_, delete, insert, select

from plugins.workflows.model import TargetType
from plugins.workflows.store.change import Change
from plugins.workflows.store.keys import check_new_key
from plugins.workflows.store.kinds import TABLES, TAG_TABLES
from plugins.workflows.store.queries import tags_of


async def own_item(change: Change, type: TargetType, key: str) -> Row[Any] | None:
    """The writer's item of a key, or None."""
    table = TABLES[type]
    theirs = and_(table.c.owner == change.writer.person, table.c.deleted.is_(None))
    query = select(table).where(theirs, table.c.key == key)
    return (await change.connection.execute(query)).first()


async def new_columns(
    change: Change,
    type: TargetType,
    row: Row[Any],
    changes: Mapping[str, Any],
    names: Iterable[str],
    *,
    by_key: bool,
) -> dict[str, Any]:
    """The columns of an item that an edit changes.

    Args:
        change: the transaction.
        type: what kind of item it is.
        row: its columns as they are.
        changes: fields of a draft, checked.
        names: those of them that are columns.
        by_key: whether it is imported, and its author may be another one.

    Raises:
        ToolFailed: it may not have its new key.
    """
    given = [name for name in names if name in changes]
    columns = {name: changes[name] for name in given if changes[name] != getattr(row, name)}
    if by_key and row.author != change.writer.name:
        columns["author"] = change.writer.name
    if "key" in columns:
        await check_new_key(change.connection, type, row, columns["key"])
    return columns


async def new_tags(
    change: Change, type: TargetType, id: str, changes: Mapping[str, Any]
) -> Sequence[str] | None:
    """The tags that an edit gives to an item, or None where they stay.

    Args:
        change: the transaction.
        type: what kind of item it is.
        id: which.
        changes: fields of a draft, checked.
    """
    if "tags" not in changes:
        return None
    tags: tuple[str, ...] = changes["tags"]
    before = (await tags_of(change.connection, type, [id])).get(id, ())
    return None if tags == before else tags


async def write_tags(change: Change, type: TargetType, id: str, tags: Sequence[str]) -> None:
    """Write the tags of an item in place of those that it has."""
    table, of = TAG_TABLES[type]
    if id not in change.added:
        await change.connection.execute(delete(table).where(of == id))
    if tags:
        rows = [{of.name: id, "tag": each} for each in tags]
        await change.connection.execute(insert(table), rows)
