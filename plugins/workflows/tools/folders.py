"""The tools for folders (seed 004, "Folder System")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Exchange, Tier, Tool
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.tools.arguments.fields import Name
from plugins.workflows.tools.arguments.folders import CreateFolder, EditFolder, Type
from plugins.workflows.tools.base import (
    ADDS,
    EDITS,
    MAX_PAGE_SIZE,
    READS,
    Wire,
    clamp,
    open_tool,
    personal_tool,
)
from plugins.workflows.tools.callers import signed_in, writer
from plugins.workflows.tools.results.edits import Done
from plugins.workflows.tools.results.folders import FolderContents, FolderTree, FolderWritten

_MAX_PAGE = 1_000_000
"""The last page; what is beyond is as empty."""


def tools(lists: FolderLists, edits: FolderEdits, exchange: Callable[[], Exchange]) -> list[Tool]:
    """The tools, the one that reads first.

    Args:
        lists: reads folders.
        edits: writes them.
        exchange: gives the call that is running, which knows who may publish.
    """
    return [_read_tool(lists), _list_tool(lists), *_write_tools(FolderTools(edits, exchange))]


def _read_tool(lists: FolderLists) -> Tool:
    async def get_by_folder(
        folder_key: Annotated[
            Name | None,
            Field(
                description="A folder's id or key: yours, else the portal's. Other people's PUBLIC "
                "folders have an id alone. null: your folders at the top, and the portal's."
            ),
        ] = None,
        page: int = 1,
        limit: int = 20,
        *,
        caller: Caller,
    ) -> Wire:
        """Look into a folder of the playbook: its subfolders, and the workflows, skill cards and
        mini-prompts in it. Without a folder it lists those that there are. Read what you find with
        `select_workflow`, `get_workflow` or `get_selected_skill`.

        Args:
            page: Which page, from 1.
            limit: How many subfolders and items are on a page, from 1 to 100.
        """
        looks, page, limit = caller.person, clamp(page, _MAX_PAGE), clamp(limit, MAX_PAGE_SIZE)
        offset = (page - 1) * limit
        if folder_key is None:
            found = await lists.top(looks, offset, limit)
        else:
            found = await lists.inside(folder_key, looks, offset, limit)
        return FolderContents.of(found, looks, page, limit).wire()

    return open_tool(get_by_folder, "Look into a folder", FolderContents)


def _list_tool(lists: FolderLists) -> Tool:
    async def list_folders(
        id: Annotated[
            Name | None,
            Field(description="The id or key of an item: each folder says whether it holds it."),
        ] = None,
        type: Type = None,
        moving: Annotated[
            Name | None,
            Field(description="A folder of yours: each says whether that may go into it."),
        ] = None,
        *,
        caller: Caller,
    ) -> Wire:
        """List all your folders, with the folders around each and its version, to choose one for an
        item or for another folder. `edit_folder` then puts things in, takes them out, and moves."""
        item = None if id is None else (id, type)
        found = await lists.own(signed_in(caller), item, moving)
        return FolderTree.of(found).wire()

    return personal_tool(list_folders, "List your folders", FolderTree, READS)


def _write_tools(writes: FolderTools) -> list[Tool]:
    return [
        Tool(
            name="create_folder",
            title="Make a folder",
            summary="Make a folder of your own for workflows, skill cards and mini-prompts, yours "
            "or others'. It is PRIVATE unless you say otherwise. Put items in with `edit_folder`; "
            "`add_workflow` and `add_skill` take a folder themselves, and make one where needed.",
            run=writes.create,
            args=CreateFolder,
            result=FolderWritten,
            tier=Tier.PUBLIC,
            annotations=ADDS,
        ),
        Tool(
            name="edit_folder",
            title="Edit a folder",
            summary="Change a folder of your own: its name, its place, who sees it, and what is in "
            "it; or delete it with the folders in it (`is_active` false), which deletes no "
            "items. Read it with `get_by_folder` first: `version` must be the one that you read. "
            "What you leave out stays as it is.",
            run=writes.edit,
            args=EditFolder,
            result=FolderWritten,
            tier=Tier.PUBLIC,
            annotations=EDITS,
        ),
    ]


@dataclass(frozen=True, slots=True)
class FolderTools:
    """What the writing tools do."""

    edits: FolderEdits
    exchange: Callable[[], Exchange]

    async def create(self, args: CreateFolder, caller: Caller) -> Wire:
        """Make a folder."""
        who = writer(caller, self.exchange())
        return FolderWritten.of(await self.edits.create(who, args.draft()), "added").wire()

    async def edit(self, args: EditFolder, caller: Caller) -> Wire:
        """Change or delete a folder."""
        who = writer(caller, self.exchange())
        if args.is_active is False:
            folder, inside = await self.edits.delete(who, args.folder_key, args.version)
            return FolderWritten.of(folder, "deleted", subfolders_deleted=inside).wire()
        folder, changed = await self.edits.edit(who, args.folder_key, args.version, args.changes())
        done: Done = "updated" if changed else "unchanged"
        return FolderWritten.of(folder, done, changed=list(changed)).wire()
