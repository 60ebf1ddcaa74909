"""What is in a folder, as someone sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    Row,
    Select,
    Table,
    Text,
    and_,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.workflows.model import PORTAL, Folder, Summary, TargetType, Viewer
from plugins.workflows.store import folders as folder_store
from plugins.workflows.store.kinds import TABLES
from plugins.workflows.store.own_folders import OwnFolders, own_folders
from plugins.workflows.store.queries import (
    ITEM_COLUMNS,
    complexity_of,
    item_fields,
    snapshot,
    tags_of,
)
from plugins.workflows.store.tables import folder_items, folders, workflows
from plugins.workflows.store.visibility import visible


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """An item in a folder, and its position there."""

    item: Summary
    position: int


@dataclass(frozen=True, slots=True)
class FolderPage:
    """A part of what somebody sees in a folder: its folders first, then its items.

    Attributes:
        folder: whose content it is, or None for the folders at the top.
        parent: the folder around it, where the viewer sees that.
        folders, items: by position, then name, then id.
        total: of folders and items together, on all pages.
    """

    folder: Folder | None
    parent: Folder | None
    folders: tuple[Folder, ...]
    items: tuple[FolderEntry, ...]
    total: int


class FolderLists:
    """Reads folders; only what the viewer may see is read at all, or counted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def top(self, viewer: Viewer, offset: int, limit: int) -> FolderPage:
        """A viewer's own folders at the top, then the portal's.

        Args:
            viewer: who looks.
            offset: how many to pass over.
            limit: how many at most.
        """
        around = cast("Table", folders.alias())
        seen_around = exists().where(around.c.id == folders.c.parent, visible(around, viewer))
        owned = and_(folders.c.owner == viewer, folders.c.parent.is_(None))
        portals = and_(folders.c.owner == PORTAL, ~seen_around)
        which = and_(visible(folders, viewer), or_(owned, portals))
        async with snapshot(self._database) as connection:
            total = await _count(connection, select(folders.c.id).where(which))
            query = select(folders).where(which).order_by(folders.c.owner == PORTAL)
            found = await _ordered(connection, query, folders, offset, limit)
        return FolderPage(
            None, None, tuple(folder_store.folder_of(row) for row in found), (), total
        )

    async def inside(self, ref: str, viewer: Viewer, offset: int, limit: int) -> FolderPage:
        """A folder, and what is in it.

        Args:
            ref: its id or key.
            viewer: who looks.
            offset: how many of its folders and items to pass over.
            limit: how many at most.

        Raises:
            ToolFailed: there is no such folder, or it is another's private one.
        """
        async with snapshot(self._database) as connection:
            folder = await folder_store.find(connection, ref, viewer)
            parent = await _visible_folder(connection, folder.parent, viewer)
            inner = select(folders).where(folders.c.parent == folder.id, visible(folders, viewer))
            number = await _count(connection, inner.with_only_columns(folders.c.id))
            rows = await _ordered(connection, inner, folders, offset, limit)
            found = tuple(folder_store.folder_of(row) for row in rows)
            held = union_all(*(_items_query(type, folder.id, viewer) for type in TABLES)).subquery()
            total = number + await _count(connection, select(held.c.id))
            rest = max(0, offset - number), limit - len(found)
            items = await _ordered(connection, select(held), held, *rest) if rest[1] else []
            tags = await _tags(connection, items)
        placed = tuple(
            FolderEntry(_summary(row, tags.get(row.id, ())), row.position) for row in items
        )
        return FolderPage(folder, parent, found, placed, total)

    async def own(
        self,
        person: str,
        item: tuple[str, TargetType | None] | None = None,
        moving: str | None = None,
    ) -> OwnFolders:
        """All folders of a person's, as ``own_folders.py`` has them."""
        return await own_folders(self._database, person, item, moving)

    async def has(self, person: str, where: folder_store.Place) -> bool:
        """Whether a person has the folder already that an item is to go into by its name."""
        if where.folder is None:
            return True
        called = or_(folders.c.name == where.folder, folders.c.key == where.folder)
        query = select(folders.c.id).where(folder_store.live(person), called).limit(1)
        async with self._database.engine.connect() as connection:
            return await connection.scalar(query) is not None

    async def containing(self, person: str, type: TargetType, target: str) -> Folder | None:
        """A folder of a person's that an item is in, or None.

        Args:
            person: whose folder.
            type: what kind of item it is.
            target: its id.
        """
        inside = and_(folder_items.c.folder == folders.c.id, folder_items.c.type == type)
        query = select(folders).join(folder_items, inside)
        query = query.where(folder_items.c.target == target, folder_store.live(person)).limit(1)
        async with self._database.engine.connect() as connection:
            row = (await connection.execute(query)).first()
        return None if row is None else folder_store.folder_of(row)


async def _visible_folder(
    connection: AsyncConnection, folder: str | None, viewer: Viewer
) -> Folder | None:
    if folder is None:
        return None
    query = select(folders).where(folders.c.id == folder, visible(folders, viewer))
    row = (await connection.execute(query)).first()
    return None if row is None else folder_store.folder_of(row)


def _items_query(type: TargetType, folder: str, viewer: Viewer) -> Select[Any]:
    """The items of one type in a folder that a viewer sees."""
    table = TABLES[type]
    placed = and_(
        folder_items.c.folder == folder,
        folder_items.c.type == type,
        folder_items.c.target == table.c.id,
    )
    size = workflows.c.complexity if table is workflows else type_coerce(null(), Text)
    columns = [table.c[name] for name in ITEM_COLUMNS]
    kind, position = literal(str(type)).label("type"), folder_items.c.position
    query = select(kind, position, *columns, size.label("complexity"))
    return query.join(folder_items, placed).where(visible(table, viewer))


async def _count(connection: AsyncConnection, query: Select[Any]) -> int:
    return await connection.scalar(select(func.count()).select_from(query.subquery())) or 0


async def _ordered(
    connection: AsyncConnection, query: Select[Any], table: Any, offset: int, limit: int
) -> list[Row[Any]]:
    """A part of some rows by position, then name, then id."""
    query = query.order_by(table.c.position, table.c.name, table.c.id).offset(offset).limit(limit)
    return list(await connection.execute(query))


async def _tags(
    connection: AsyncConnection, rows: Sequence[Row[Any]]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for type in TABLES:
        found |= await tags_of(connection, type, [row.id for row in rows if row.type == type])
    return found


def _summary(row: Row[Any], tags: tuple[str, ...]) -> Summary:
    return Summary(
        **item_fields(row), type=TargetType(row.type), tags=tags, complexity=complexity_of(row)
    )
