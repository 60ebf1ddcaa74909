"""Into which folder a new item goes, over each database."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import Writer
from plugins.workflows.model import TargetType
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.folders import Place
from tests.plugins.workflows.conftest import workflow
from tests.plugins.workflows.folders.rows import (
    ANA,
    BEN,
    PUBLIC,
    WORKFLOW,
    item,
)
from tests.plugins.workflows.folders.steps import inside, made, placed


async def test_a_new_item_goes_into_a_folder_that_is_found_or_made(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    one, two, three, four = [await item(database, WORKFLOW, ANA.person) for _ in range(4)]
    found = await placed(database, one, folder="Code Review")
    assert found is not None
    assert await placed(database, two, folder=" Code Review ") == found
    assert await placed(database, three, folder="code-review") == found
    assert await placed(database, four, folder_id=found.id) == found
    assert await inside(lists, found) == [one, two, three, four]
    assert (await lists.top(ANA.person, 0, 10)).folders == (found,)
    assert await placed(database, one) is None


async def test_a_folder_is_looked_for_among_ones_own_alone(
    edits: FolderEdits, lists: FolderLists, database: OwnedDatabase
) -> None:
    theirs = await made(edits, "Shared", BEN, visibility=PUBLIC)
    gone = await made(edits, "Shared")
    await edits.delete(ANA, gone.id, 1)
    target = await item(database, WORKFLOW, ANA.person)
    found = await placed(database, target, folder="Shared")
    assert found is not None
    assert found.id not in {theirs.id, gone.id}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"folder_id": theirs.id}, "not yours"),
        ({"folder_id": gone.id}, "Folder not found"),
        ({"folder_id": found.id, "folder": "Shared"}, "not both"),
        ({"folder": "\x07"}, "control character"),
    ]
    for where, said in refused:
        with pytest.raises(ToolFailed, match=said):
            await placed(database, target, **where)


async def test_a_folder_is_there_for_its_owner_once_it_is_made(
    lists: FolderLists, playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    where = Place(folder="Reviews")
    assert not await lists.has(alice.person, where)
    made = await playbook.add_workflow(alice, workflow(), where)
    assert await lists.has(alice.person, where)
    assert await lists.has(alice.person, Place(folder="reviews")), "by its key too"
    assert not await lists.has(bob.person, where)
    folder = await lists.containing(alice.person, TargetType.WORKFLOW, made.id)
    assert folder is not None
    assert folder.name == "Reviews"
    assert await lists.containing(bob.person, TargetType.WORKFLOW, made.id) is None


async def test_without_a_folder_there_is_none(
    lists: FolderLists, playbook: Playbook, alice: Writer
) -> None:
    made = await playbook.add_workflow(alice, workflow())
    assert await lists.has(alice.person, Place())
    assert await lists.containing(alice.person, TargetType.WORKFLOW, made.id) is None
