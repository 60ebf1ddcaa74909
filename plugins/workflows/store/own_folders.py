"""All folders of one person, as a list to choose from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database, ToolFailed
from plugins.workflows.model import Folder, Summary, TargetType
from plugins.workflows.store import folders as folder_store
from plugins.workflows.store import queries
from plugins.workflows.store.folder_tree import Tree
from plugins.workflows.store.queries import snapshot
from plugins.workflows.store.tables import folder_items, folders
from plugins.workflows.store.targets import find_target


@dataclass(frozen=True, slots=True)
class OwnFolder:
    """A folder of somebody's, and what it is to what they want to place.

    Attributes:
        path: the names of the folders around it, from the top, and its own.
        holds: whether the item is in it.
        fits: whether the folder that is to be moved may go into it.
    """

    folder: Folder
    path: tuple[str, ...]
    holds: bool
    fits: bool


@dataclass(frozen=True, slots=True)
class OwnFolders:
    """All folders of somebody's, by their paths.

    Attributes:
        item: what is to be placed, or None.
        moving: the folder that is to be moved, or None.
    """

    folders: Sequence[OwnFolder]
    item: Summary | None
    moving: Folder | None


async def own_folders(
    database: Database,
    person: str,
    item: tuple[str, TargetType | None] | None = None,
    moving: str | None = None,
) -> OwnFolders:
    """A person's folders.

    Args:
        database: the plugin's database.
        person: whose.
        item: the id or key of something to place, and what it is where a key could mean several.
        moving: the id or key of a folder of theirs that is to be moved.

    Raises:
        ToolFailed: they see no such item, or have no such folder.
    """
    async with snapshot(database) as connection:
        rows = await connection.execute(select(folders).where(folder_store.live(person)))
        every = [folder_store.folder_of(row) for row in rows]
        tree = Tree(every)
        placed = None if item is None else await _summary(connection, person, *item)
        inside = set() if placed is None else await _holding(connection, placed)
        moved = None if moving is None else await folder_store.own(connection, moving, person)
    found = [
        OwnFolder(
            each,
            tuple(one.name for one in tree.down_to(each.id)),
            each.id in inside,
            moved is not None and _fits(tree, moved, each),
        )
        for each in every
    ]
    return OwnFolders(sorted(found, key=lambda one: (one.path, one.folder.id)), placed, moved)


async def _summary(
    connection: AsyncConnection, person: str, ref: str, type: TargetType | None
) -> Summary:
    types: Collection[TargetType] = tuple(TargetType) if type is None else (type,)
    target = await find_target(connection, ref, person, types)
    (found,) = await queries.summaries(connection, target.type, [target.id], person, queries.ALL)
    return found


async def _holding(connection: AsyncConnection, item: Summary) -> set[str]:
    its = and_(folder_items.c.type == item.type, folder_items.c.target == item.id)
    return set(await connection.scalars(select(folder_items.c.folder).where(its)))


def _fits(tree: Tree, moved: Folder, into: Folder) -> bool:
    if into.id == moved.parent:
        return False
    try:
        tree.check_move(moved.id, into.id)
    except ToolFailed:
        return False
    return True
