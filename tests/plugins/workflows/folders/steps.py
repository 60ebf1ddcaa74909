"""What tests do with folders, in few words."""

from __future__ import annotations

from typing import Any

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import Writer
from plugins.workflows.model import Folder, TargetType
from plugins.workflows.store.folder_edits import Addition, FolderChanges, FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.folders import FolderDraft, Place, place
from tests.plugins.workflows.folders.rows import (
    ANA,
    WORKFLOW,
)


async def made(edits: FolderEdits, name: str, writer: Writer = ANA, **more: Any) -> Folder:
    return await edits.create(writer, FolderDraft(name=name, **more))


def fields(**values: Any) -> FolderChanges:
    return FolderChanges(fields=values)


async def put(edits: FolderEdits, folder: Folder, *items: str, **more: Any) -> Folder:
    add = [Addition(ref=each, **more) for each in items]
    found, _ = await edits.edit(ANA, folder.id, folder.version, FolderChanges(fields={}, add=add))
    return found


async def inside(lists: FolderLists, folder: Folder, viewer: str | None = ANA.person) -> list[str]:
    """The ids of the items that a viewer sees in a folder."""
    page = await lists.inside(folder.id, viewer, 0, 100)
    assert page.total == len(page.folders) + len(page.items)
    return [each.item.id for each in page.items]


async def placed(
    database: OwnedDatabase, target: str, type: TargetType = WORKFLOW, **where: str
) -> Folder | None:
    async with database.begin() as connection:
        return await place(connection, ANA.person, type, target, Place(**where))
