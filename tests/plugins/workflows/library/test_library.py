"""What people keep of others' items, over each database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import select

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.model import PORTAL
from plugins.workflows.store.library import Library, LibraryEdit
from plugins.workflows.store.tables import library as table
from tests.plugins.workflows.conftest import NOON, Clock
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


@pytest.fixture
def library(database: OwnedDatabase, clock: Clock) -> Library:
    return Library(database, clock)


async def kept(database: OwnedDatabase, person: str = ANA.person) -> set[str]:
    async with database.engine.connect() as connection:
        rows = await connection.execute(select(table).where(table.c.person == person))
        return {row.target for row in rows}


async def test_an_item_is_kept_once_and_removed_once(
    library: Library, database: OwnedDatabase
) -> None:
    theirs = await item(database, WORKFLOW, BEN.person, PUBLIC)
    added = [await library.add(ANA.person, theirs) for _ in range(2)]
    assert added == [LibraryEdit(WORKFLOW, theirs, True), LibraryEdit(WORKFLOW, theirs, False)]
    assert await kept(database) == {theirs}
    assert await kept(database, BEN.person) == set()
    removed = [await library.remove(ANA.person, theirs) for _ in range(2)]
    assert removed == [LibraryEdit(WORKFLOW, theirs, True), LibraryEdit(WORKFLOW, theirs, False)]
    assert await kept(database) == set()


async def test_a_key_is_ones_own_or_the_portals(library: Library, database: OwnedDatabase) -> None:
    ids = {}
    for owner in (BEN.person, PORTAL):
        ids[owner] = await item(database, SKILL, owner, PUBLIC)
        await change(database, SKILL, ids[owner], key="naming")
    assert (await library.add(ANA.person, "naming")).id == ids[PORTAL]
    assert (await library.add(BEN.person, "naming", SKILL)).id == ids[BEN.person]
    assert (await library.remove(ANA.person, "naming")).changed
    assert await kept(database) == set()


async def test_what_cannot_be_seen_cannot_be_kept(
    library: Library, database: OwnedDatabase
) -> None:
    hidden = await item(database, WORKFLOW, BEN.person)
    gone = await item(database, SKILL, BEN.person, PUBLIC)
    await change(database, SKILL, gone, deleted=NOON)
    prompt = await item(database, PROMPT, BEN.person, PUBLIC)
    shown = await item(database, WORKFLOW, BEN.person, PUBLIC)
    for ref, type, said in [
        (hidden, None, "Access denied: workflow is private"),
        (hidden, SKILL, "Skill not found"),
        (gone, None, "Item not found"),
        (prompt, None, "Item not found"),
        (shown, SKILL, "Skill not found"),
    ]:
        for attempt in (library.add, library.remove):
            with pytest.raises(ToolFailed, match=f"^{said}$"):
                await attempt(ANA.person, ref, type)
    assert await kept(database) == set()


async def test_what_its_owner_took_back_can_still_be_removed_by_its_id(
    library: Library, database: OwnedDatabase
) -> None:
    theirs = await item(database, SKILL, BEN.person, PUBLIC)
    await library.add(ANA.person, theirs)
    await change(database, SKILL, theirs, visibility=PRIVATE)
    assert await library.remove(ANA.person, theirs) == LibraryEdit(SKILL, theirs, True)
    with pytest.raises(ToolFailed, match="Access denied: skill is private"):
        await library.remove(ANA.person, theirs)


async def test_an_item_that_is_kept_twice_at_once_is_kept(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase], clock: Clock
) -> None:
    both = [Library(each, clock) for each in (database, open_another())]
    theirs = await item(database, WORKFLOW, BEN.person, PUBLIC)
    done = await asyncio.gather(*(both[n % 2].add(ANA.person, theirs) for n in range(8)))
    assert sum(each.changed for each in done) == 1
    assert await kept(database) == {theirs}
