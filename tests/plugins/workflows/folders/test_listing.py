"""What is in a folder, as each viewer sees it: compared with a model, and by examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows import limits
from plugins.workflows.ids import new_id
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL, Visibility
from plugins.workflows.store.folder_edits import Addition, FolderChanges, FolderEdits, Removal
from plugins.workflows.store.folder_lists import FolderLists
from plugins.workflows.store.folders import FolderDraft
from tests.examples import examples
from tests.plugins.workflows.conftest import NOON, Clock
from tests.plugins.workflows.folders.model import Box, Shelf, Thing
from tests.plugins.workflows.folders.rows import (
    BEN,
    PRIVATE,
    PROMPT,
    PUBLIC,
    SKILL,
    WORKFLOW,
    item,
)

DEPTH = 4
"""As deep as folders may lie here, so that examples reach it."""
NAMES, POSITIONS = "abÄ", (None, 0, 1, 2)
ACTIONS = ("make", "move", "move", "edit", "edit", "delete", "add", "add", "shift", "remove")


def steps(random: Random) -> Iterator[tuple[Any, ...]]:
    """What somebody does to their folders: first they make some, most of them in others."""
    for _ in range(random.randint(4, 8)):
        yield made(random)
    for _ in range(random.randint(0, 16)):
        yield step(random)


def made(random: Random) -> tuple[Any, ...]:
    # -1 is the last one that was made, so that folders lie deep.
    parent = random.choice([None, -1, -1, 0, 1])
    name, position = random.choice(NAMES), random.choice(POSITIONS)
    return "make", name, parent, position, random.choice(list(Visibility))


def step(random: Random) -> tuple[Any, ...]:
    action = random.choice(ACTIONS)
    one, other, thing = (random.randrange(10) for _ in range(3))
    visibility = random.choice(list(Visibility))
    return {
        "make": made(random),
        "move": (action, one, random.choice([None, other, other])),
        "edit": (action, one, random.choice(NAMES), random.randint(0, 2), visibility),
        "delete": (action, one),
        "add": (action, one, thing, random.choice(POSITIONS)),
        "shift": (action, one, other, thing),
        "remove": (action, one, thing),
    }[action]


@dataclass
class World:
    """One person's folders in the database, beside the model of them."""

    writer: Writer
    edits: FolderEdits
    shelf: Shelf

    def box(self, number: int | None) -> Box | None:
        boxes = self.shelf.boxes
        return boxes[number % len(boxes)] if boxes and number is not None else None

    def thing(self, number: int) -> str:
        return [*self.shelf.things][number % len(self.shelf.things)]

    async def make(
        self, name: str, parent: int | None, position: int | None, visibility: Visibility
    ) -> None:
        around = self.box(parent)
        draft = FolderDraft(
            name=name,
            visibility=visibility,
            parent=around.id if around else None,
            position=position,
        )
        if not self.shelf.fits(None, around):
            with pytest.raises(ToolFailed, match="deep"):
                await self.edits.create(self.writer, draft)
            return
        made = await self.edits.create(self.writer, draft)
        expected = self.shelf.last(around) if position is None else position
        self.shelf.boxes.append(Box(made.id, name, around, expected, visibility))

    async def change(self, box: Box, changes: FolderChanges) -> None:
        after, changed = await self.edits.edit(self.writer, box.id, box.version, changes)
        box.version += bool(changed)
        assert after.version == box.version

    async def move(self, number: int, parent: int | None) -> None:
        box, around = self.box(number), self.box(parent)
        if box is None:
            return
        changes = FolderChanges(fields={"parent": around and around.id})
        if not self.shelf.fits(box, around):
            with pytest.raises(ToolFailed, match=r"deep|inside itself"):
                await self.edits.edit(self.writer, box.id, box.version, changes)
            return
        await self.change(box, changes)
        if around is not box.parent:
            box.position, box.parent = self.shelf.last(around), around

    async def edit(self, number: int, name: str, position: int, visibility: Visibility) -> None:
        box = self.box(number)
        if box is None:
            return
        fields = {"name": name, "position": position, "visibility": visibility}
        await self.change(box, FolderChanges(fields=fields))
        box.name, box.position, box.visibility = name, position, visibility

    async def delete(self, number: int) -> None:
        box = self.box(number)
        if box is None:
            return
        gone = self.shelf.below(box)
        _, inside = await self.edits.delete(self.writer, box.id, box.version)
        assert inside == len(gone) - 1
        self.shelf.boxes = [each for each in self.shelf.boxes if each not in gone]

    async def add(self, number: int, thing: int, position: int | None) -> None:
        box, ref = self.box(number), self.thing(thing)
        if box is None:
            return
        changes = FolderChanges(fields={}, add=[Addition(ref=ref, position=position)])
        if not self.shelf.things[ref].seen_by(self.writer.person):
            with pytest.raises(ToolFailed, match="Access denied"):
                await self.edits.edit(self.writer, box.id, box.version, changes)
            return
        await self.change(box, changes)
        last = max(box.held.values(), default=-1) + 1
        box.held[ref] = position if position is not None else box.held.get(ref, last)

    async def shift(self, number: int, other: int, thing: int) -> None:
        box, source, ref = self.box(number), self.box(other), self.thing(thing)
        if box is None or source is None or ref not in source.held:
            return
        add = Addition(ref=ref, from_folder=source.id)
        await self.change(box, FolderChanges(fields={}, add=[add]))
        if source is not box:
            last = max(box.held.values(), default=-1) + 1
            box.held.setdefault(ref, last)
            del source.held[ref]
            source.version += 1

    async def remove(self, number: int, thing: int) -> None:
        box, ref = self.box(number), self.thing(thing)
        if box is None or not self.shelf.things[ref].seen_by(self.writer.person):
            return
        await self.change(box, FolderChanges(fields={}, remove=[Removal(ref=ref)]))
        box.held.pop(ref, None)


async def things(database: OwnedDatabase, owner: str) -> list[Thing]:
    """Items of each type, own and others', of both visibilities, two with the same name."""
    wanted = [
        (WORKFLOW, owner, PRIVATE, "b"),
        (WORKFLOW, owner, PUBLIC, "B"),
        (SKILL, owner, PRIVATE, "Ä"),
        (PROMPT, owner, PRIVATE, "a"),
        (SKILL, BEN.person, PUBLIC, "a"),
        (PROMPT, PORTAL, PUBLIC, "a"),
        (WORKFLOW, BEN.person, PRIVATE, "secret"),
    ]
    return [
        Thing(await item(database, kind, owner, visibility, name), kind, owner, name, visibility)
        for kind, owner, visibility, name in wanted
    ]


async def paged(lists: FolderLists, ref: str | None, viewer: str | None, limit: int) -> list[str]:
    """The ids of all that a viewer sees in a folder, page by page."""
    found: list[str] = []
    while True:
        offset = len(found)
        if ref is None:
            page = await lists.top(viewer, offset, limit)
        else:
            page = await lists.inside(ref, viewer, offset, limit)
        found += [each.id for each in page.folders] + [each.item.id for each in page.items]
        assert len(found) == min(page.total, offset + limit)
        if len(found) == page.total:
            return found


@pytest.fixture
def shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FOLDER_DEPTH", DEPTH)


@pytest.mark.timeout(600)
@settings(
    max_examples=examples(8),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(random=st.randoms(use_true_random=True))
async def test_every_viewer_sees_of_the_folders_what_the_model_says(
    random: Random, database: OwnedDatabase, clock: Clock, shallow: None
) -> None:
    writer = Writer(f"person:{new_id()}", "Somebody", may_publish=True)
    shelf = Shelf(writer.person, await things(database, writer.person))
    world = World(writer, FolderEdits(database, clock), shelf)
    for name, *arguments in steps(random):
        await getattr(world, name)(*arguments)
    lists, limit = FolderLists(database), random.randint(2, 5)
    for viewer in (writer.person, BEN.person, None):
        assert await paged(lists, None, viewer, limit) == shelf.listing(None, viewer)
        for box in shelf.boxes:
            if viewer != writer.person and box.visibility is PRIVATE:
                with pytest.raises(ToolFailed, match="Access denied: folder is private"):
                    await lists.inside(box.id, viewer, 0, limit)
                continue
            assert await paged(lists, box.id, viewer, limit) == shelf.listing(box, viewer)
            page = await lists.inside(box.id, viewer, 0, limit)
            around = box.parent
            if around and viewer != writer.person and around.visibility is PRIVATE:
                around = None
            assert (page.parent and page.parent.name) == (around and around.name)
    assert all(len(box.above()) <= DEPTH for box in shelf.boxes)


PORTALS = Writer(PORTAL, "The portal", may_publish=True)


async def test_the_portals_published_folders_come_after_ones_own(
    database: OwnedDatabase, clock: Clock
) -> None:
    edits, lists = FolderEdits(database, clock), FolderLists(database)
    secret = await edits.create(PORTALS, FolderDraft(name="Secret"))
    shown = await edits.create(PORTALS, FolderDraft(name="Start here", visibility=PUBLIC))
    within = await edits.create(
        PORTALS, FolderDraft(name="Within", visibility=PUBLIC, parent=secret.id)
    )
    await edits.create(PORTALS, FolderDraft(name="Sub", visibility=PUBLIC, parent=shown.id))
    await edits.create(BEN, FolderDraft(name="Others", visibility=PUBLIC))
    mine = await edits.create(replace(BEN, person="person:ana"), FolderDraft(name="Zzz"))
    assert await paged(lists, None, None, 1) == [within.id, shown.id]
    assert await paged(lists, None, "person:ana", 2) == [mine.id, within.id, shown.id]
    assert (await lists.inside(within.id, None, 0, 9)).parent is None


async def test_a_key_is_ones_own_first_then_the_portals_and_nobody_elses(
    database: OwnedDatabase, clock: Clock
) -> None:
    edits, lists = FolderEdits(database, clock), FolderLists(database)
    draft = FolderDraft(name="Guides", visibility=PUBLIC)
    portals, bens = await edits.create(PORTALS, draft), await edits.create(BEN, draft)
    assert portals.key == bens.key == "guides"
    for viewer, expected in [(None, portals), ("person:ana", portals), (BEN.person, bens)]:
        assert (await lists.inside("guides", viewer, 0, 9)).folder == expected
        assert (await lists.inside(bens.id, viewer, 0, 9)).folder == bens
    await edits.delete(PORTALS, portals.id, 1)
    with pytest.raises(ToolFailed, match="Folder not found"):
        await lists.inside("guides", None, 0, 9)


async def test_a_private_folder_is_denied_by_its_id_and_unknown_by_its_key(
    database: OwnedDatabase, clock: Clock
) -> None:
    edits, lists = FolderEdits(database, clock), FolderLists(database)
    for writer in (BEN, PORTALS):
        hidden = await edits.create(writer, FolderDraft(name="Hidden"))
        for viewer in ("person:ana", None):
            with pytest.raises(ToolFailed, match=r"^Access denied: folder is private$"):
                await lists.inside(hidden.id, viewer, 0, 9)
            with pytest.raises(ToolFailed, match=r"^Folder not found$"):
                await lists.inside(hidden.key, viewer, 0, 9)


async def test_a_listed_item_has_what_lists_show(database: OwnedDatabase, clock: Clock) -> None:
    edits, lists = FolderEdits(database, clock), FolderLists(database)
    found = await item(database, WORKFLOW, BEN.person, PUBLIC, "Review", description="Read it")
    folder = await edits.create(BEN, FolderDraft(name="Mine"))
    add = FolderChanges(fields={}, add=[Addition(ref=found, position=3)])
    await edits.edit(BEN, folder.id, 1, add)
    (placed,) = (await lists.inside(folder.id, BEN.person, 0, 9)).items
    assert placed.position == 3
    assert (placed.item.id, placed.item.name, placed.item.description) == (
        found,
        "Review",
        "Read it",
    )
    assert (placed.item.type, placed.item.complexity, placed.item.visibility) == (
        WORKFLOW,
        "M",
        PUBLIC,
    )
    assert placed.item.updated == NOON
