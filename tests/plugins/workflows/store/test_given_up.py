"""A writing that is given up at any statement is done wholly or not at all, and holds up nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import event

from gateway.contract import Objects
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import AttachmentDraft, Reference, StageItemDraft, Writer
from plugins.workflows.model import TargetType
from plugins.workflows.playbook import Place, Playbook
from tests.plugins.workflows.conftest import prompt, skill, stage, workflow
from tests.plugins.workflows.files.desk import rows

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

Act = Callable[[], Awaitable[Any]]
MOST = 400
FIRST = AttachmentDraft("a.txt", "text/plain", b"one")
SECOND = AttachmentDraft("b.txt", "text/plain", b"two")


@asynccontextmanager
async def counted(database: OwnedDatabase, then: Callable[[int], None]) -> AsyncIterator[None]:
    """Call a function before each statement, and before each commit, with its number."""
    number = 0

    def count(*_: Any) -> None:
        nonlocal number
        number += 1
        then(number)

    names = ("before_cursor_execute", "commit")
    for name in names:
        event.listen(database.engine.sync_engine, name, count)
    try:
        yield
    finally:
        for name in names:
            event.remove(database.engine.sync_engine, name, count)


async def given_up(database: OwnedDatabase, at: int, act: Act) -> bool:
    """Do something, and give it up before a statement; whether it came that far."""
    task = asyncio.ensure_future(act())

    def cancel(number: int) -> None:
        if number == at:
            task.cancel()

    async with counted(database, cancel):
        await asyncio.wait([task])
    if task.cancelled():
        return True
    task.result()
    return False


async def stored(objects: Objects) -> list[str]:
    return sorted([each.key async for each in objects.list("")])


class World:
    """A card in a workflow, and what may be done to them."""

    def __init__(self, playbook: Playbook, writer: Writer) -> None:
        self.playbook, self.writer = playbook, writer
        self.card = self.flow = ""

    async def build(self) -> None:
        card = await self.playbook.add_skill(self.writer, skill("Knots", attachments=(FIRST,)))
        held = StageItemDraft(Reference(TargetType.SKILL, card.id))
        draft = workflow(stage(prompt("One"), held), name="Tie")
        self.card, self.flow = card.id, (await self.playbook.add_workflow(self.writer, draft)).id

    async def add_workflow(self) -> None:
        draft = workflow(name="Another", tags=("new",))
        await self.playbook.add_workflow(self.writer, draft, Place(folder="Box"))

    async def edit_workflow(self) -> None:
        stages = (stage(prompt("Two"), prompt("Three")), stage(prompt("Four"), name="More"))
        _, version = await self.playbook.workflow_version(self.flow, self.writer.person)
        changes = {"stages": stages, "tags": ("x",), "name": "Untie"}
        await self.playbook.edit_workflow(self.writer, self.flow, version, changes)

    async def delete_workflow(self) -> None:
        _, version = await self.playbook.workflow_version(self.flow, self.writer.person)
        await self.playbook.delete_workflow(self.writer, self.flow, version)

    async def add_card(self) -> None:
        draft = skill("Ropes", attachments=(FIRST, SECOND))
        await self.playbook.add_skill(self.writer, draft, Place(folder="Box"))

    async def edit_card(self) -> None:
        version = (await self.playbook.skill(self.card, self.writer.person)).version
        changes = {"name": "Bends", "content": "Bend.", "attachments": (SECOND,)}
        await self.playbook.edit_skill(self.writer, self.card, version, changes)

    async def delete_card(self) -> None:
        version = (await self.playbook.skill(self.card, self.writer.person)).version
        await self.playbook.delete_skill(self.writer, self.card, version)


@pytest.mark.parametrize(
    "what",
    ["add_workflow", "edit_workflow", "delete_workflow", "add_card", "edit_card", "delete_card"],
)
async def test_it_is_done_wholly_or_not_at_all(
    playbook: Playbook, database: OwnedDatabase, objects: Objects, alice: Writer, what: str
) -> None:
    world = World(playbook, alice)
    await world.build()
    act: Act = getattr(world, what)
    before, files = await rows(database), await stored(objects)
    at = 1
    while await given_up(database, at, act) and await rows(database) == before:
        assert await stored(objects) == files, f"given up at statement {at}"
        at += 1
        assert at < MOST
    assert at > 5
    grown = growth(before, await rows(database))
    for card in await playbook.matching(TargetType.SKILL, alice.person):
        for file in (await playbook.skill(card, alice.person)).attachments:
            await playbook.attachment(card, file.name, alice.person)
    # What was done in the end is what is done where nobody gives up.
    await world.build()
    before = await rows(database)
    await act()
    assert grown == growth(before, await rows(database))


def growth(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, int]:
    """How many rows each table has more than before; folders are made once."""
    tables = before.keys() - {"playbook_folders"}
    return {table: len(after[table]) - len(before[table]) for table in tables}
