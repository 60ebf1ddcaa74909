"""Making, changing and deleting folders, and putting items into them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import exclusive, lock_number
from plugins.workflows import checks, errors, limits
from plugins.workflows.inputs import Writer
from plugins.workflows.model import Folder, Revision, TargetType, Visibility
from plugins.workflows.store import folders as folder_store
from plugins.workflows.store import revisions
from plugins.workflows.store.folder_tree import Tree
from plugins.workflows.store.folders import FolderDraft
from plugins.workflows.store.revisions import FOLDER, NewRevision
from plugins.workflows.store.tables import folder_items, folders
from plugins.workflows.store.targets import find_target

EDITABLE_FIELDS = ("name", "description", "visibility", "parent", "position")
"""What an edit may change of a folder itself."""
ITEMS_FIELD = "items"
"""The field that stands for what is in a folder, in its revisions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """An item that goes into a folder.

    Attributes:
        ref: its id or key.
        type: what kind of item it is, where the key alone could mean several.
        position: its place; without one it comes last, or stays where it is.
        from_folder: the id or key of the folder that it leaves, or None.
    """

    ref: str
    type: TargetType | None = None
    position: int | None = None
    from_folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """An item that leaves a folder; ``ref`` and ``type`` are as for :class:`Addition`."""

    ref: str
    type: TargetType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderChanges:
    """What an edit does to a folder.

    Attributes:
        fields: new values of ``EDITABLE_FIELDS``; ``parent`` is an id or key, or None for the top.
        add: what comes in.
        remove: what goes out, first.
    """

    fields: Mapping[str, Any]
    add: Sequence[Addition] = ()
    remove: Sequence[Removal] = ()


class FolderEdits:
    """Writes the folders of people, each only their own.

    A folder's version grows with each edit of it; putting a new item into it with the tool that
    makes the item is no edit.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def create(self, writer: Writer, draft: FolderDraft) -> Folder:
        """Make a folder.

        Args:
            writer: whose.
            draft: its values; ``parent`` may be an id or a key here.

        Raises:
            ToolFailed: there is no such parent, it lies too deep, the key is taken, or the
                writer may not publish.
        """
        _check_may_publish(writer, draft.visibility)
        draft = replace(
            draft, key=draft.key and checks.key(draft.key), **_checked_texts(asdict(draft))
        )
        async with self._alone(writer) as connection:
            if draft.parent is not None:
                parent = await folder_store.own(connection, draft.parent, writer.person)
                (await _tree(connection, writer.person)).check_room(parent.id)
                draft = replace(draft, parent=parent.id)
            return await folder_store.make(connection, writer.person, draft)

    async def edit(
        self, writer: Writer, ref: str, version: int, changes: FolderChanges
    ) -> tuple[Folder, tuple[str, ...]]:
        """Change a folder, all of it or nothing.

        Args:
            writer: its owner.
            ref: its id or key.
            version: the one that the changes were made for.
            changes: what to do.

        Returns:
            The folder as it is now, and what changed; nothing where all was so already.

        Raises:
            ToolFailed: there is no such folder, it is not the writer's or has another version;
                it would be inside itself or too deep; an item is not there; or it is PUBLIC, or
                is to be, and the writer may not publish.
        """
        async with self._alone(writer) as connection:
            folder = await _read_for_edit(connection, writer.person, ref, version)
            wanted = await _apply_fields(connection, writer, folder, changes.fields)
            changed = [
                name for name in EDITABLE_FIELDS if getattr(wanted, name) != getattr(folder, name)
            ]
            if await self._moved(connection, writer, folder, changes):
                changed.append(ITEMS_FIELD)
            if changed:
                _check_may_publish(writer, wanted.visibility)
                wanted = await self._write(connection, writer, wanted, changed)
        return wanted, tuple(changed)

    async def delete(self, writer: Writer, ref: str, version: int) -> tuple[Folder, int]:
        """Delete a folder and the folders in it; what else is in them stays where it is besides.

        Returns:
            The folder as it was, and how many folders were in it.

        Raises:
            ToolFailed: there is no such folder, it is not the writer's or has another version.
        """
        gone = update(folders).where(folders.c.id == bindparam("folder"))
        gone = gone.values(deleted=self._clock(), key=folders.c.key + "~" + folders.c.id)
        async with self._alone(writer) as connection:
            folder = await _read_for_edit(connection, writer.person, ref, version)
            levels = (await _tree(connection, writer.person)).levels(folder.id)
            ids = [each for level in levels for each in level]
            await connection.execute(gone, [{"folder": each} for each in ids])
        return folder, len(ids) - 1

    @asynccontextmanager
    async def _alone(self, writer: Writer) -> AsyncGenerator[AsyncConnection]:
        """A transaction that alone changes the writer's folders."""
        async with self._database.begin() as connection:
            number = lock_number("playbook", folder_store.lock_key(writer.person))
            await exclusive(connection, number)
            yield connection

    async def _moved(
        self, connection: AsyncConnection, writer: Writer, folder: Folder, changes: FolderChanges
    ) -> bool:
        """Remove and add items; whether anything changed."""
        moved = [
            await _take_out(connection, writer.person, folder, each) for each in changes.remove
        ]
        for each in changes.add:
            found = await find_target(connection, each.ref, writer.person, _types(each.type))
            if each.from_folder is not None:
                other = await folder_store.own(connection, each.from_folder, writer.person)
                if other.id != folder.id:
                    await self._leave(connection, writer, other, found.type, found.id)
            moved.append(
                await folder_store.put(connection, folder.id, found.type, found.id, each.position)
            )
        return any(moved)

    async def _leave(
        self,
        connection: AsyncConnection,
        writer: Writer,
        folder: Folder,
        type: TargetType,
        item: str,
    ) -> None:
        if await _remove_item(connection, folder, type, item):
            await self._write(connection, writer, folder, [ITEMS_FIELD])

    async def _write(
        self, connection: AsyncConnection, writer: Writer, folder: Folder, changed: Sequence[str]
    ) -> Folder:
        """Write a folder's next version, and what is new in it."""
        folder = replace(folder, version=folder.version + 1)
        values = {name: getattr(folder, name) for name in (*EDITABLE_FIELDS, "version")}
        await connection.execute(update(folders).where(folders.c.id == folder.id).values(values))
        new = Revision(folder.version, self._clock(), writer.name, tuple(changed))
        await revisions.write(connection, [NewRevision(FOLDER, folder.id, new)])
        return folder


def _check_may_publish(writer: Writer, visibility: Visibility) -> None:
    if visibility is Visibility.PUBLIC and not writer.may_publish:
        raise errors.may_not_publish()


def _checked_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The texts among some fields, in the form in which they are stored."""
    found: dict[str, Any] = {}
    if "name" in fields:
        found["name"] = checks.line(fields["name"], "name", limits.MAX_FOLDER_NAME_CHARS)
    if fields.get("description") is not None:
        found["description"] = checks.text(
            fields["description"], "description", limits.MAX_DESCRIPTION_CHARS
        )
    return found


def _types(type: TargetType | None) -> tuple[TargetType, ...]:
    return tuple(TargetType) if type is None else (type,)


async def _tree(connection: AsyncConnection, owner: str) -> Tree:
    rows = await connection.execute(select(folders).where(folder_store.live(owner)))
    return Tree(folder_store.folder_of(row) for row in rows)


async def _read_for_edit(
    connection: AsyncConnection, person: str, ref: str, version: int
) -> Folder:
    """The folder that is to be changed, where it is of the version that was read."""
    folder = await folder_store.own(connection, ref, person)
    if folder.version != version:
        changes = await revisions.since(connection, FOLDER, folder.id, version)
        raise errors.stale("Folder", version, folder.version, changes)
    return folder


async def _apply_fields(
    connection: AsyncConnection, writer: Writer, folder: Folder, fields: Mapping[str, Any]
) -> Folder:
    """The folder as it is to be."""
    wanted = {**fields, **_checked_texts(fields)}
    if wanted.get("parent") is not None:
        wanted["parent"] = (await folder_store.own(connection, wanted["parent"], writer.person)).id
    after = replace(folder, **wanted)
    if after.parent != folder.parent:
        (await _tree(connection, writer.person)).check_move(folder.id, after.parent)
        if "position" not in fields:
            last = await folder_store.last_position(connection, writer.person, after.parent)
            after = replace(after, position=last)
    return after


async def _take_out(
    connection: AsyncConnection, person: str, folder: Folder, removal: Removal
) -> bool:
    """Take an item out by its id, also one that its owner has hidden since, or by its key."""
    for type in _types(removal.type):
        if await _remove_item(connection, folder, type, removal.ref):
            return True
    found = await find_target(connection, removal.ref, person, _types(removal.type))
    return await _remove_item(connection, folder, found.type, found.id)


async def _remove_item(
    connection: AsyncConnection, folder: Folder, type: TargetType, item: str
) -> bool:
    this = and_(
        folder_items.c.folder == folder.id,
        folder_items.c.type == type,
        folder_items.c.target == item,
    )
    return (await connection.execute(delete(folder_items).where(this))).rowcount > 0
