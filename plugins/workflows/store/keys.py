"""Keys that their owner has not given yet."""

from __future__ import annotations

from itertools import count
from typing import Any

from sqlalchemy import Row, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from plugins.workflows import limits
from plugins.workflows.errors import bad_input
from plugins.workflows.ids import new_id, portal_id, slug
from plugins.workflows.model import PORTAL, TargetType
from plugins.workflows.store.kinds import TABLES, TYPE_NAMES

_SUFFIX_CHARS = 6
"""Characters that a number behind a key may take."""


def new_item_id(type: TargetType, owner: str, key: str) -> str:
    """The id of a new item: for the portal, the one that follows from its key."""
    return portal_id(type, key) if owner == PORTAL else new_id()


async def free_key(
    connection: AsyncConnection, type: TargetType, owner: str, key: str | None, name: str
) -> str:
    """The key of a new item.

    Args:
        connection: a writing transaction that is alone with the playbook.
        type: what kind of item it is.
        owner: whose.
        key: the one that is wished, or None for one made of the name.
        name: the item's name.

    Raises:
        ToolFailed: the key that is wished belongs to another item of the owner's.
    """
    table = TABLES[type]
    base = key or slug(name)
    begins = table.c.key.startswith(
        f"{base[: limits.MAX_KEY_CHARS - _SUFFIX_CHARS]}-", autoescape=True
    )
    query = select(table.c.key).where(table.c.owner == owner, or_(table.c.key == base, begins))
    taken = set(await connection.scalars(query))
    if base not in taken:
        return base
    if key is not None:
        raise bad_input(
            f"key: there is a {TYPE_NAMES[type].lower()} of yours with the key {key} already. "
            "Leave the key out, and one is made of the name; or give another.",
            place="key",
        )
    numbered = (f"{base[: limits.MAX_KEY_CHARS - _SUFFIX_CHARS]}-{number}" for number in count(2))
    return next(each for each in numbered if each not in taken)


async def check_new_key(
    connection: AsyncConnection, type: TargetType, row: Row[Any], key: str | None
) -> None:
    """Refuse a new key of an item, where it may not have it.

    The portal's keep theirs: their ids follow from them.

    Raises:
        ToolFailed: the item keeps its key, or the new one belongs to another of its owner's.
    """
    if row.owner == PORTAL or key is None:
        raise bad_input("key: this key stays as it is.", place="key")
    await free_key(connection, type, row.owner, key, row.name)
