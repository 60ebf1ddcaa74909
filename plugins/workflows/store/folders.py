"""Folders and what is in them (seed 004, "Folder System").

What one person does to their folders is done one transaction after another, so that a folder is
made once, a key is given once and a cycle never arises.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from itertools import count
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import exclusive, lock_number
from plugins.workflows import checks, errors, limits
from plugins.workflows.ids import new_id, slug
from plugins.workflows.model import PORTAL, Folder, TargetType, Viewer, Visibility
from plugins.workflows.store.kinds import enum_or_none
from plugins.workflows.store.tables import folder_items, folders
from plugins.workflows.store.visibility import visible


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new item goes; nowhere if neither is given.

    Attributes:
        folder_id: the id or key of one of the writer's folders.
        folder: a folder's name; one of the writer's own with that name, or else a new one.
    """

    folder_id: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderDraft:
    """A folder to be made.

    Attributes:
        key: a slug that its owner has not given yet; without one it is made of the name.
        parent: the id of the owner's folder around it, or None at the top.
        position: its place beside others of the same parent; without one it comes last.
    """

    name: str
    description: str | None = None
    visibility: Visibility = Visibility.PRIVATE
    key: str | None = None
    parent: str | None = None
    position: int | None = None


async def place(
    connection: AsyncConnection, person: str, type: TargetType, target: str, where: Place
) -> Folder | None:
    """Put an item that was just written into a folder, behind what is there.

    Args:
        connection: the transaction that writes the item.
        person: whose folder.
        type: what kind of item it is.
        target: its id.
        where: which folder.

    Returns:
        The folder, or None where no folder was asked for.

    Raises:
        ToolFailed: there is no such folder, it is not theirs, or the name cannot be one.
    """
    if where.folder_id is None and where.folder is None:
        return None
    if where.folder_id is not None and where.folder is not None:
        raise errors.bad_input("Give folder_id or folder, not both.")
    await exclusive(connection, lock_number("playbook", lock_key(person)))
    if where.folder_id is not None:
        folder = await own(connection, where.folder_id, person)
    else:
        name = checks.line(where.folder or "", "folder", limits.MAX_FOLDER_NAME_CHARS)
        folder = await _found_or_made(connection, person, name)
    await put(connection, folder.id, type, target)
    return folder


async def find(connection: AsyncConnection, ref: str, viewer: Viewer) -> Folder:
    """The folder of an id or a key: the viewer's own, else the portal's, else by its id alone.

    Args:
        connection: to read with.
        ref: an id or a key.
        viewer: who names it.

    Raises:
        ToolFailed: there is none, or it is another's private one.
    """
    by_key = and_(folders.c.owner.in_({viewer or PORTAL, PORTAL}), folders.c.key == ref)
    which = or_(folders.c.id == ref, by_key)
    found = await connection.execute(select(folders).where(visible(folders, viewer), which))
    if rows := found.all():
        nearest = min(rows, key=lambda row: (row.owner != viewer, row.owner != PORTAL, row.key))
        return folder_of(nearest)
    there = select(folders.c.id).where(folders.c.id == ref, folders.c.deleted.is_(None))
    if await connection.scalar(there) is not None:
        raise errors.private("Folder")
    raise errors.not_found("Folder")


async def own(connection: AsyncConnection, ref: str, person: str) -> Folder:
    """A person's own folder, by its id or key.

    Raises:
        ToolFailed: as :func:`find`; or it is another's.
    """
    folder = await find(connection, ref, person)
    if folder.owner != person:
        raise errors.not_yours("Folder")
    return folder


async def put(
    connection: AsyncConnection,
    folder: str,
    type: TargetType,
    target: str,
    position: int | None = None,
) -> bool:
    """Put an item into a folder, or give it another position there.

    Args:
        connection: a transaction that is alone with the owner's folders.
        folder: the folder's id.
        type: what kind of item it is.
        target: its id.
        position: its position; without one it stays where it is, or comes last.

    Returns:
        Whether anything changed.
    """
    inside = folder_items.c.folder == folder
    this = and_(inside, folder_items.c.type == type, folder_items.c.target == target)
    row = (await connection.execute(select(folder_items.c.position).where(this))).first()
    if row is None:
        if position is None:
            position = await _next(connection, folder_items.c.position, inside)
        new = {"folder": folder, "type": type, "target": target, "position": position}
        await connection.execute(insert(folder_items).values(new))
        return True
    if position is None or position == row.position:
        return False
    await connection.execute(update(folder_items).where(this).values(position=position))
    return True


async def make(connection: AsyncConnection, owner: str, draft: FolderDraft) -> Folder:
    """Write a new folder.

    Args:
        connection: a transaction that is alone with the owner's folders.
        owner: whose folder.
        draft: what it is to be, checked already.

    Raises:
        ToolFailed: the key is taken.
    """
    position = draft.position
    if position is None:
        position = await last_position(connection, owner, draft.parent)
    folder = Folder(
        id=new_id(),
        key=await _key(connection, owner, draft),
        owner=owner,
        name=draft.name,
        description=draft.description,
        visibility=draft.visibility,
        parent=draft.parent,
        position=position,
        version=1,
    )
    await connection.execute(insert(folders).values(asdict(folder)))
    return folder


async def last_position(connection: AsyncConnection, owner: str, parent: str | None) -> int:
    """The position behind all folders with a parent, or behind those at the top."""
    beside = and_(folders.c.parent.is_not_distinct_from(parent), live(owner))
    return await _next(connection, folders.c.position, beside)


def lock_key(person: str) -> str:
    """What a transaction that changes somebody's folders is alone with (``locks.alone``)."""
    return f"folders of {person}"


def live(owner: str) -> ColumnElement[bool]:
    """The condition that a folder is an owner's, and not deleted."""
    return and_(folders.c.owner == owner, folders.c.deleted.is_(None))


def folder_of(row: Row[Any]) -> Folder:
    """The folder in a row of its table."""
    visibility = enum_or_none(Visibility, row.visibility) or Visibility.PRIVATE
    values = {each.name: getattr(row, each.name) for each in fields(Folder)}
    return Folder(**values | {"visibility": visibility})


async def _found_or_made(connection: AsyncConnection, person: str, name: str) -> Folder:
    """A person's folder of a name (or, as models write it, of a key), made if there is none.

    Of several with the name it is one at the top, the first of them.
    """
    called = or_(folders.c.name == name, folders.c.key == name)
    found = await connection.execute(select(folders).where(live(person), called))
    rows = found.all()
    if not rows:
        return await make(connection, person, FolderDraft(name=name))
    first = min(
        rows,
        key=lambda row: (row.name != name, row.parent is not None, row.position, row.id),
    )
    return folder_of(first)


async def _key(connection: AsyncConnection, owner: str, draft: FolderDraft) -> str:
    """The key that was asked for, or one made of the name that the owner has not given yet."""
    base = draft.key or slug(draft.name)
    begins = folders.c.key.startswith(base[: limits.MAX_KEY_CHARS - 8], autoescape=True)
    rows = await connection.execute(select(folders.c.key).where(folders.c.owner == owner, begins))
    taken = {row.key for row in rows}
    if base not in taken:
        return base
    if draft.key:
        raise errors.bad_input(
            f"You have a folder with the key {base} already. Leave the key out, and one is made "
            "of the name; or give another.",
            key=base,
        )
    numbered = (f"{base[: limits.MAX_KEY_CHARS - 8]}-{number}" for number in count(2))
    return next(key for key in numbered if key not in taken)


async def _next(
    connection: AsyncConnection, column: ColumnElement[int], where: ColumnElement[bool]
) -> int:
    """The position behind all others."""
    last = await connection.scalar(select(func.max(column)).where(where))
    return 0 if last is None else min(last + 1, limits.MAX_POSITION)
