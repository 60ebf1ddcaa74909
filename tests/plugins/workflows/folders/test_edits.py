"""Making, changing and deleting folders, over each database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows import limits
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.folders import FolderDraft
from plugins.workflows.store.revisions import MAX_REVISIONS
from plugins.workflows.store.tables import folders, workflows
from tests.plugins.workflows.folders.rows import (
    ANA,
    BEN,
    PRIVATE,
    PUBLIC,
    WORKFLOW,
    item,
)
from tests.plugins.workflows.folders.steps import fields, made, put


async def test_a_folder_is_private_and_last_and_its_key_is_made_of_its_name(
    edits: FolderEdits,
) -> None:
    first = await made(edits, "Code Review")
    second = await made(edits, "  Code Review ")
    assert (first.key, first.position, first.visibility, first.version) == (
        "code-review",
        0,
        PRIVATE,
        1,
    )
    assert (second.name, second.key, second.position) == ("Code Review", "code-review-2", 1)


async def test_two_people_may_use_the_same_key(edits: FolderEdits) -> None:
    mine, theirs = await made(edits, "Plans", key="plans"), await made(edits, "Plans", BEN)
    assert mine.key == theirs.key == "plans"


async def test_a_key_that_is_taken_is_refused_by_name(edits: FolderEdits) -> None:
    await made(edits, "Plans")
    with pytest.raises(ToolFailed, match="a folder with the key plans already"):
        await made(edits, "Others", key="plans")


async def test_long_names_have_different_keys(edits: FolderEdits) -> None:
    keys = [(await made(edits, "x" * limits.MAX_FOLDER_NAME_CHARS)).key for _ in range(12)]
    assert len(set(keys)) == 12
    assert max(len(key) for key in keys) <= limits.MAX_KEY_CHARS


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ({"name": " "}, "name: is empty"),
        ({"name": "x" * 101}, "name: has 101 characters"),
        ({"name": "a\x00b"}, "control character U\\+0000"),
        ({"name": "a\nb"}, "name: is one line"),
        ({"name": "a", "description": "x" * 4001}, "description: has 4,001"),
        ({"name": "a", "key": "no spaces"}, "key: is 1 to 100 letters"),
        ({"name": "a", "parent": "nowhere"}, "Folder not found"),
    ],
)
async def test_what_cannot_be_a_folder_is_refused_and_nothing_is_written(
    edits: FolderEdits, lists: FolderLists, draft: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolFailed, match=said):
        await edits.create(ANA, FolderDraft(**draft))
    assert (await lists.top(ANA.person, 0, 10)).total == 0


async def test_to_publish_or_change_what_is_public_needs_the_right_to(edits: FolderEdits) -> None:
    may_not = replace(ANA, may_publish=False)
    with pytest.raises(ToolFailed, match="Publishing needs a higher tier"):
        await made(edits, "Ours", may_not, visibility=PUBLIC)
    private = await made(edits, "Ours", may_not)
    with pytest.raises(ToolFailed, match="Publishing needs a higher tier"):
        await edits.edit(may_not, private.id, 1, fields(visibility=PUBLIC))
    public, _ = await edits.edit(ANA, private.id, 1, fields(visibility=PUBLIC))
    with pytest.raises(ToolFailed, match="Publishing needs a higher tier"):
        await edits.edit(may_not, private.id, 2, fields(name="Mine"))
    same, _ = await edits.edit(may_not, private.id, 2, fields(visibility=PUBLIC))
    back, _ = await edits.edit(may_not, private.id, 2, fields(visibility=PRIVATE, name="Mine"))
    assert [each.visibility for each in (public, same, back)] == [PUBLIC, PUBLIC, PRIVATE]


async def test_an_edit_changes_what_it_names_and_says_what_that_was(edits: FolderEdits) -> None:
    parent, child = await made(edits, "Parent"), await made(edits, "Child", description="Old")
    changes = fields(name="Renamed", description=None, parent=parent.key, position=7)
    found, changed = await edits.edit(ANA, child.key, 1, changes)
    renamed = replace(child, name="Renamed", description=None, parent=parent.id, position=7)
    assert found == replace(renamed, version=2)
    assert changed == ("name", "description", "parent", "position")
    top, _ = await edits.edit(ANA, child.key, 2, fields(parent=None))
    assert (top.parent, top.position) == (None, 1)


async def test_an_edit_that_changes_nothing_keeps_the_version(edits: FolderEdits) -> None:
    folder = await made(edits, "Same")
    found, changed = await edits.edit(ANA, folder.id, 1, fields(name="Same", position=0))
    assert (found, changed) == (folder, ())


async def test_a_stale_edit_is_refused_with_what_changed(edits: FolderEdits) -> None:
    folder = await made(edits, "Old")
    await edits.edit(ANA, folder.id, 1, fields(name="New"))
    await edits.edit(ANA, folder.id, 2, fields(visibility=PUBLIC, description="For all"))
    with pytest.raises(ToolFailed) as failed:
        await edits.edit(ANA, folder.id, 1, fields(name="Other"))
    assert failed.value.code == "stale"
    assert failed.value.details["currentVersion"] == 3
    told = failed.value.details["changed"]
    assert [each["fields"] for each in told] == [["name"], ["description", "visibility"]]
    with pytest.raises(ToolFailed, match="since version 1: description, name, visibility"):
        await edits.delete(ANA, folder.id, 1)
    with pytest.raises(ToolFailed) as failed:
        await edits.edit(ANA, folder.id, 10**12, fields(name="Other"))
    assert failed.value.code == "stale"


async def test_the_latest_changes_alone_are_remembered(
    edits: FolderEdits, database: OwnedDatabase
) -> None:
    folder = await made(edits, "Busy")
    for version in range(1, MAX_REVISIONS + 5):
        await edits.edit(ANA, folder.id, version, fields(position=version))
    with pytest.raises(ToolFailed) as failed:
        await edits.edit(ANA, folder.id, 1, fields(position=0))
    told = [each["version"] for each in failed.value.details["changed"]]
    assert told == list(range(6, MAX_REVISIONS + 6))


async def test_only_its_owner_changes_a_folder(edits: FolderEdits) -> None:
    shown, hidden = await made(edits, "Shown", visibility=PUBLIC), await made(edits, "Hidden")
    theirs = await made(edits, "Ours", BEN)
    for refused, ref in [
        ("folder is not yours to edit", shown.id),
        ("folder is private", hidden.id),
        ("Folder not found", hidden.key),
        ("Folder not found", shown.key),
    ]:
        with pytest.raises(ToolFailed, match=refused):
            await edits.edit(BEN, ref, 1, fields(name="Mine"))
        with pytest.raises(ToolFailed, match=refused):
            await edits.delete(BEN, ref, 1)
        with pytest.raises(ToolFailed, match=refused):
            await made(edits, "Within", BEN, parent=ref)
        with pytest.raises(ToolFailed, match=refused):
            await edits.edit(BEN, theirs.id, 1, fields(parent=ref))


async def test_folders_do_not_lie_in_each_other(edits: FolderEdits) -> None:
    outer = await made(edits, "Outer")
    inner = await made(edits, "Inner", parent=outer.id)
    with pytest.raises(ToolFailed, match="Outer > Inner > Outer"):
        await edits.edit(ANA, outer.id, 1, fields(parent=inner.id, name="Other"))
    same, _ = await edits.edit(ANA, outer.id, 1, fields())
    assert same == outer


async def test_folders_lie_only_so_deep(edits: FolderEdits) -> None:
    parent = None
    for depth in range(limits.MAX_FOLDER_DEPTH):
        parent = (await made(edits, f"Level {depth}", parent=parent)).id
    with pytest.raises(ToolFailed, match="Folders may lie 16 deep"):
        await made(edits, "Too deep", parent=parent)
    outer = await made(edits, "Outer")
    await made(edits, "Inner", parent=outer.id)
    moved, _ = await edits.edit(ANA, outer.id, 1, fields(parent="level-13"))
    with pytest.raises(ToolFailed, match=r"in Level 0 > .* > Level 14 there would be 17 levels"):
        await edits.edit(ANA, outer.id, 2, fields(parent="level-14"))
    assert moved.parent is not None


async def test_a_deleted_folder_takes_its_folders_along_and_no_items(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    outer = await made(edits, "Outer", key="outer")
    inner = await made(edits, "Inner", parent=outer.id)
    innermost = await made(edits, "Innermost", parent=inner.id)
    kept = await item(database, WORKFLOW, ANA.person)
    await put(edits, innermost, kept)
    assert await edits.delete(ANA, "outer", 1) == (outer, 2)
    for gone in (outer, inner, innermost):
        with pytest.raises(ToolFailed, match="Folder not found"):
            await lists.inside(gone.id, ANA.person, 0, 10)
    async with database.engine.connect() as connection:
        alive = select(workflows.c.id).where(workflows.c.deleted.is_(None))
        assert await connection.scalar(alive) == kept
        assert await connection.scalar(select(func.count()).select_from(folders)) == 3
    again = await made(edits, "Again", key="outer")
    assert (await lists.top(ANA.person, 0, 10)).folders == (again,)
