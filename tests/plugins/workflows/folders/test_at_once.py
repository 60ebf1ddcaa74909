"""What people do to folders at the same time, over each database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.store.folder_edits import FolderEdits
from plugins.workflows.store.folder_lists import FolderLists
from tests.plugins.workflows.conftest import Clock
from tests.plugins.workflows.folders.rows import (
    ANA,
    WORKFLOW,
    item,
)
from tests.plugins.workflows.folders.steps import fields, made, placed


async def test_a_folder_that_many_want_at_once_is_made_once(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase], lists: FolderLists
) -> None:
    other = open_another()
    targets = [await item(database, WORKFLOW, ANA.person) for _ in range(12)]
    found = await asyncio.gather(
        *(
            placed(other if number % 2 else database, target, folder="Rush")
            for number, target in enumerate(targets)
        )
    )
    assert len({each.id for each in found if each}) == 1
    page = await lists.inside("rush", ANA.person, 0, 100)
    assert sorted(each.position for each in page.items) == list(range(12))


async def test_keys_that_are_made_at_once_differ(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase], clock: Clock
) -> None:
    both = [FolderEdits(database, clock), FolderEdits(open_another(), clock)]
    found = await asyncio.gather(*(made(both[number % 2], "Same") for number in range(10)))
    assert len({each.key for each in found}) == len({each.position for each in found}) == 10


async def test_two_moves_at_once_make_no_cycle(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase], clock: Clock
) -> None:
    here, there = FolderEdits(database, clock), FolderEdits(open_another(), clock)
    for _ in range(5):
        one, two = await made(here, "One"), await made(here, "Two")
        moves = [
            here.edit(ANA, one.id, 1, fields(parent=two.id)),
            there.edit(ANA, two.id, 1, fields(parent=one.id)),
        ]
        refused = [
            each
            for each in await asyncio.gather(*moves, return_exceptions=True)
            if isinstance(each, ToolFailed)
        ]
        assert len(refused) == 1
        assert "inside itself" in refused[0].message


async def test_of_two_edits_of_one_version_one_is_refused(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase], clock: Clock
) -> None:
    here, there = FolderEdits(database, clock), FolderEdits(open_another(), clock)
    folder = await made(here, "Old")
    names = [f"Name {number}" for number in range(8)]
    done = await asyncio.gather(
        *(
            (there if number % 2 else here).edit(ANA, folder.id, 1, fields(name=name))
            for number, name in enumerate(names)
        ),
        return_exceptions=True,
    )
    won = [each for each in done if not isinstance(each, BaseException)]
    lost = [each for each in done if isinstance(each, ToolFailed)]
    assert (len(won), len(lost)) == (1, 7)
    assert {each.code for each in lost} == {"stale"}
