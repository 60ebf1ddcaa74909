"""Putting items into folders and taking them out, over each database."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.model import PORTAL
from plugins.workflows.store.folder_edits import Addition, FolderChanges, FolderEdits, Removal
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.tables import folder_items
from tests.plugins.workflows.folders.rows import (
    ANA,
    BEN,
    PRIVATE,
    PROMPT,
    PUBLIC,
    SKILL,
    WORKFLOW,
    change,
    item,
)
from tests.plugins.workflows.folders.steps import fields, inside, made, put


async def test_items_go_in_move_within_and_come_out(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    folder = await made(edits, "Mixed")
    first = await item(database, WORKFLOW, ANA.person)
    second = await item(database, SKILL, BEN.person, PUBLIC)
    third = await item(database, PROMPT, PORTAL, PUBLIC)
    folder = await put(edits, folder, first, second, third)
    assert folder.version == 2
    assert await inside(lists, folder) == [first, second, third]
    folder = await put(edits, folder, third, position=0)
    await put(edits, folder, second)
    assert folder.version == 3
    assert set((await inside(lists, folder))[:2]) == {first, third}
    out = FolderChanges(fields={}, remove=[Removal(ref=first), Removal(ref=second)])
    folder, changed = await edits.edit(ANA, folder.id, 3, out)
    assert (await inside(lists, folder), changed) == ([third], ("items",))
    _, changed = await edits.edit(ANA, folder.id, 4, out)
    assert changed == ()


async def test_an_item_moves_from_one_folder_to_another_in_one_go(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    left, right = await made(edits, "Left"), await made(edits, "Right")
    moved = await item(database, WORKFLOW, ANA.person)
    left = await put(edits, left, moved)
    right = await put(edits, right, moved, from_folder="left")
    assert (await inside(lists, left), await inside(lists, right)) == ([], [moved])
    with pytest.raises(ToolFailed, match="since version 2: items"):
        await edits.edit(ANA, left.id, left.version, fields(name="Stale"))


async def test_an_item_may_be_in_several_folders(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    both = await item(database, SKILL, ANA.person)
    for name in ("One", "Two"):
        folder = await put(edits, await made(edits, name), both)
        assert await inside(lists, folder) == [both]


async def test_a_refused_item_leaves_all_as_it_was(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    folder = await made(edits, "Mixed")
    good = await item(database, WORKFLOW, ANA.person)
    hidden = await item(database, SKILL, BEN.person)
    for ref, said in [(hidden, "Access denied: skill is private"), ("nothing", "Item not found")]:
        changes = FolderChanges(
            fields={"name": "Other"}, add=[Addition(ref=good), Addition(ref=ref)]
        )
        with pytest.raises(ToolFailed, match=said):
            await edits.edit(ANA, folder.id, 1, changes)
    assert (await lists.inside(folder.id, ANA.person, 0, 10)).folder == folder
    assert await inside(lists, folder) == []


async def test_a_key_of_two_things_needs_a_type(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    ids = {kind: await item(database, kind, ANA.person) for kind in (WORKFLOW, SKILL)}
    portals = await item(database, PROMPT, PORTAL, PUBLIC)
    for kind, id in [*ids.items(), (PROMPT, portals)]:
        await change(database, kind, id, key="review")
    folder = await made(edits, "Mixed")
    with pytest.raises(ToolFailed, match="a SKILL and a WORKFLOW called review"):
        await put(edits, folder, "review")
    folder = await put(edits, folder, "review", type=SKILL)
    folder = await put(edits, folder, "review", type=PROMPT)
    assert await inside(lists, folder) == [ids[SKILL], portals]


async def test_what_its_owner_took_back_still_comes_out(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    theirs = await item(database, WORKFLOW, BEN.person, PUBLIC)
    folder = await put(edits, await made(edits, "Mixed"), theirs)
    await change(database, WORKFLOW, theirs, visibility=PRIVATE)
    assert await inside(lists, folder) == []
    out = FolderChanges(fields={}, remove=[Removal(ref=theirs)])
    await edits.edit(ANA, folder.id, folder.version, out)
    async with database.engine.connect() as connection:
        assert await connection.scalar(select(func.count()).select_from(folder_items)) == 0
    with pytest.raises(ToolFailed, match="Access denied: workflow is private"):
        await edits.edit(ANA, folder.id, folder.version + 1, out)
