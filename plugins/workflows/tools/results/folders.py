"""What folders look like."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gateway.contract import ToolResult
from plugins.workflows.model import Folder, Viewer, Visibility
from plugins.workflows.store.folder_lists import FolderEntry, FolderPage
from plugins.workflows.store.own_folders import OwnFolders
from plugins.workflows.tools.results.base import SummaryInfo, shared_fields
from plugins.workflows.tools.results.edits import Done, ItemRef


class FolderInfo(ToolResult):
    """A folder."""

    id: str
    key: str = Field(description="A short name, unique among its owner's folders.")
    name: str
    description: str | None
    visibility: Visibility
    mine: bool = Field(description="Whether it is the caller's own.")
    position: int = Field(description="Its place beside others; those with the same come by name.")
    version: int = Field(description="What an edit names, so that it overwrites nothing newer.")

    @classmethod
    def fields_of(cls, folder: Folder, viewer: Viewer) -> dict[str, Any]:
        """The fields of this class that a folder has, as they are shown to a viewer."""
        mine = viewer is not None and folder.owner == viewer
        return shared_fields(cls, folder) | {"mine": mine}


class FolderItem(SummaryInfo):
    """A workflow, a skill card or a mini-prompt in a folder."""

    position: int = Field(description="Its place; items with the same come by name.")

    @classmethod
    def placed(cls, placed: FolderEntry, viewer: Viewer) -> FolderItem:
        """What a folder shows of an item, to a viewer."""
        return cls(**cls.fields_of(placed.item, viewer), position=placed.position)


class Around(ToolResult):
    """The folder around another one."""

    id: str
    key: str
    name: str


class Pagination(ToolResult):
    """Which part of the whole this is; only what the caller may see is counted."""

    page: int = Field(description="From 1.")
    limit: int
    total: int = Field(description="Subfolders and items together, on all pages.")
    has_more: bool


class FolderContents(ToolResult):
    """A part of what is in a folder: its subfolders come first, then its items."""

    folder: FolderInfo | None = Field(description="null for the list of folders at the top.")
    parent: Around | None = Field(description="The folder around it, if the caller may see that.")
    subfolders: list[FolderInfo] = Field(description="By position, then name.")
    items: list[FolderItem] = Field(description="By position, then name.")
    pagination: Pagination

    @classmethod
    def of(cls, found: FolderPage, viewer: Viewer, page: int, limit: int) -> FolderContents:
        """What a viewer is shown.

        Args:
            found: what is on the page.
            viewer: who looks.
            page: which one it is, from 1.
            limit: how much is on a page.
        """
        folder, parent = found.folder, found.parent
        return cls(
            folder=folder and FolderInfo(**FolderInfo.fields_of(folder, viewer)),
            parent=parent and Around(**shared_fields(Around, parent)),
            subfolders=[FolderInfo(**FolderInfo.fields_of(each, viewer)) for each in found.folders],
            items=[FolderItem.placed(each, viewer) for each in found.items],
            pagination=Pagination(
                page=page, limit=limit, total=found.total, has_more=page * limit < found.total
            ),
        )


class FolderChoice(Around):
    """A folder of the caller's, to choose from."""

    path: list[str] = Field(description="The names of the folders around it, and its own.")
    version: int
    visibility: Visibility
    holds: bool = Field(description="Whether the item that was named is in it.")
    fits: bool = Field(description="Whether the folder that was named may go into it.")


class FolderTree(ToolResult):
    """All folders of the caller's."""

    folders: list[FolderChoice] = Field(description="By their paths.")
    item: ItemRef | None = Field(description="The item that was named.")
    moving: FolderInfo | None = Field(description="The folder that was named.")

    @classmethod
    def of(cls, found: OwnFolders) -> FolderTree:
        """What their owner is shown."""
        moving = found.moving
        return cls(
            folders=[
                FolderChoice(
                    **shared_fields(FolderChoice, each.folder),
                    path=list(each.path),
                    holds=each.holds,
                    fits=each.fits,
                )
                for each in found.folders
            ],
            item=found.item and ItemRef(**shared_fields(ItemRef, found.item)),
            moving=moving and FolderInfo(**FolderInfo.fields_of(moving, moving.owner)),
        )


class FolderWritten(FolderInfo):
    """A folder that was written."""

    done: Done = Field(description="unchanged: everything was so already, nothing was written.")
    parent_id: str | None = Field(description="The id of the folder around it, or null.")
    changed: list[str] = Field(
        default_factory=list, description="What an edit changed; items: what is in it."
    )
    subfolders_deleted: int = Field(
        0, description="How many folders in it were deleted with it; never any items."
    )

    @classmethod
    def of(cls, folder: Folder, done: Done, **more: Any) -> FolderWritten:
        """The answer to its owner.

        Args:
            folder: as it is now, or was.
            done: what became of it.
            more: other fields of this class.
        """
        fields = FolderInfo.fields_of(folder, folder.owner)
        return cls(**fields, done=done, parent_id=folder.parent, **more)
