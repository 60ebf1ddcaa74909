"""Writing skill cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Row

from plugins.workflows.ids import slug
from plugins.workflows.inputs import SkillDraft
from plugins.workflows.model import TargetType
from plugins.workflows.store import attachments
from plugins.workflows.store.change import Change
from plugins.workflows.store.items import new_columns, new_tags, own_item, write_tags
from plugins.workflows.store.keys import free_key, new_item_id
from plugins.workflows.store.mini_prompts import PutOutcome
from plugins.workflows.store.version_contents import forget_files

_KIND = TargetType.SKILL
_COLUMNS = ("name", "content", "description", "visibility", "key")
FIELDS = tuple(each.name for each in fields(SkillDraft))


async def add(change: Change, draft: SkillDraft) -> str:
    """Write a new card, whose bytes are stored, and give its id."""
    person = change.writer.person
    key = await free_key(change.connection, _KIND, person, draft.key, draft.name)
    id = new_item_id(_KIND, person, key)
    row = {name: getattr(draft, name) for name in _COLUMNS} | {"id": id, "key": key}
    await change.add(_KIND, [row])
    await write_tags(change, _KIND, id, draft.tags)
    await attachments.write(change, id, attachments.describe(draft.attachments))
    return id


async def edit(
    change: Change, row: Row[Any], changes: Mapping[str, Any], *, by_key: bool = False
) -> bool:
    """Write new values of a card.

    Args:
        change: the transaction.
        row: the card's columns as they are.
        changes: fields of a draft, checked; the bytes of files are stored.
        by_key: whether it is imported, and its author may be another one.

    Returns:
        Whether anything was written.
    """
    columns = await new_columns(change, _KIND, row, changes, _COLUMNS, by_key=by_key)
    new = [*columns]
    tags = await new_tags(change, _KIND, row.id, changes)
    if tags is not None:
        new.append("tags")
        await write_tags(change, _KIND, row.id, tags)
    if "attachments" in changes:
        files = attachments.describe(changes["attachments"])
        if files != await attachments.of_skill(change.connection, row.id):
            new.append("attachments")
            await attachments.write(change, row.id, files)
    if new:
        await change.edit(_KIND, row, columns, sorted(new))
    return bool(new)


async def remove(change: Change, row: Row[Any]) -> None:
    """Delete a card, and its files, those of older versions too."""
    await attachments.write(change, row.id, ())
    change.dropped |= await forget_files(change.connection, row.id)
    await change.remove(_KIND, row)


async def put(change: Change, draft: SkillDraft) -> PutOutcome:
    """Write a card by its key: a new one, or all values of the one that is there."""
    row = await own_item(change, _KIND, draft.key or slug(draft.name))
    if row is None:
        await add(change, draft)
        return "added"
    values = {name: getattr(draft, name) for name in FIELDS if name != "key"}
    return "updated" if await edit(change, row, values, by_key=True) else "unchanged"
